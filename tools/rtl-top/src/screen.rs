//! The live view: draws the lines until a key, a signal, or the end of all recordings.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use cli::Failure;
use platform::signals;
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Style, Stylize};
use ratatui::text::{Line, Text};

use crate::document::Document;
use crate::text::{self, View};

/// The longest time that a signal waits until the view sees it.
const PATIENCE: Duration = Duration::from_millis(100);

pub trait Source {
    fn document(&self) -> Document;

    /// Reads new rows. Returns true if more can come.
    fn refresh(&mut self) -> Result<bool, Failure>;
}

/// Shows the source until it ends or the user ends it. The source is read anew after each `interval`; tables have at most
/// `rows` rows. Returns the number of the signal that ended it, if one did.
pub fn show(
    source: &mut impl Source,
    interval: Duration,
    rows: Option<usize>,
) -> Result<Option<u8>, Failure> {
    let signal = Arc::new(AtomicUsize::new(0));
    signals::store(signals::ENDS, &signal)?;
    // The hook of a panic restores the terminal, too.
    let mut terminal = ratatui::try_init()?;
    let shown = until_the_end(source, interval, rows, &mut terminal, &signal);
    ratatui::try_restore()?;
    shown
}

fn until_the_end(
    source: &mut impl Source,
    interval: Duration,
    rows: Option<usize>,
    terminal: &mut DefaultTerminal,
    signal: &AtomicUsize,
) -> Result<Option<u8>, Failure> {
    // The first look installs the handler of resizes: without it, one after the first drawing is missed.
    event::poll(Duration::ZERO)?;
    loop {
        let document = source.document();
        draw(terminal, &document, rows)?;
        let next = Instant::now() + interval;
        loop {
            match signal.load(Ordering::Relaxed) {
                0 => {}
                number => return Ok(Some(number as u8)),
            }
            let left = next.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            if !event::poll(left.min(PATIENCE))? {
                continue;
            }
            match event::read()? {
                Event::Key(key) if is_end(key) => return Ok(None),
                Event::Resize(..) => draw(terminal, &document, rows)?,
                _ => {}
            }
        }
        if !source.refresh()? {
            return Ok(None);
        }
    }
}

fn is_end(key: KeyEvent) -> bool {
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    let is_end = match key.code {
        KeyCode::Char('q') | KeyCode::Esc => true,
        KeyCode::Char('c') => control,
        _ => false,
    };
    key.kind == KeyEventKind::Press && is_end
}

fn draw(terminal: &mut DefaultTerminal, document: &Document, rows: Option<usize>) -> io::Result<()> {
    terminal.try_draw(|frame| {
        let [body, foot] = Layout::vertical([Constraint::Fill(1), Constraint::Length(1)]).areas(frame.area());
        let (width, height) = (usize::from(body.width), usize::from(body.height));
        let lines = text::lines(document, View { width: Some(width), height: Some(height), rows })?;
        let lines = lines.into_iter().map(|line| {
            let style = if line.is_heading { Style::new().bold() } else { Style::new() };
            Line::styled(line.text, style)
        });
        frame.render_widget(Text::from_iter(lines), body);
        frame.render_widget(Line::from("q end").dim(), foot);
        Ok::<(), io::Error>(())
    })?;
    Ok(())
}

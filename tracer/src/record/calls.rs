//! Rows of calls.

use std::collections::HashMap;

use calls::{Function, Source};
use schema::append::Target;
use schema::write::{Call, TextId};

use super::close::Close;
use super::session::{Session, meet};
use crate::calls::reader::Told;
use crate::calls::sources;

/// What a session knows of them.
#[derive(Debug, Default)]
pub(super) struct Calls {
    /// By source and number.
    names: [Vec<Option<TextId>>; Source::ALL.len()],
    domains: [Option<TextId>; Source::ALL.len()],
    /// Small numbers of streams, by their addresses, in the order in which they are met.
    streams: HashMap<u64, i64>,
}

impl<T: Target + Close> Session<T> {
    /// Records a call or counts it as lost.
    pub(super) fn add_call(&mut self, told: &Told) {
        let Some(source) = told.call.function.source() else { return };
        if self.over.is_none()
            && let Err(error) = self.write_call(source, told)
        {
            self.fail(&error);
        }
        self.others.add_call(source, self.over, &self.known);
    }

    fn write_call(&mut self, source: Source, told: &Told) -> schema::Result<()> {
        let call = &told.call;
        let (name, domain) = (self.function(source, call.function)?, self.domain(source)?);
        let stream = if call.stream == 0 { None } else { Some(self.stream(call.stream)?) };
        let (recording, threads) = self.begun()?;
        meet(threads, told.tid, recording)?;
        let args = told.arguments.as_deref().map(|arguments| recording.text(arguments)).transpose()?;
        recording.call(&Call {
            tid: Some(i64::from(told.tid)),
            start: call.start,
            end: Some(call.end),
            name: Some(name),
            args,
            domain: Some(domain),
            correlation: call.correlation as i64,
            parent: call.parent as i64,
            stream,
            ..Call::default()
        })?;
        Ok(())
    }

    fn function(&mut self, source: Source, function: Function) -> schema::Result<TextId> {
        let (at, number) = (source as usize, function.number());
        if let Some(&Some(known)) = self.calls.names[at].get(number) {
            return Ok(known);
        }
        let name = sources::name(function).unwrap_or_default();
        let id = self.begun()?.0.text(name)?;
        let names = &mut self.calls.names[at];
        names.resize(names.len().max(number + 1), None);
        names[number] = Some(id);
        Ok(id)
    }

    fn domain(&mut self, source: Source) -> schema::Result<TextId> {
        let at = source as usize;
        if let Some(known) = self.calls.domains[at] {
            return Ok(known);
        }
        let id = self.begun()?.0.text(sources::domain(source))?;
        self.calls.domains[at] = Some(id);
        Ok(id)
    }

    /// The number of a stream; 0 is the default one.
    fn stream(&mut self, address: u64) -> schema::Result<i64> {
        let number = self.calls.streams.len() as i64 + 1;
        if let Some(&known) = self.calls.streams.get(&address) {
            return Ok(known);
        }
        let row = serde_json::json!({ "pid": std::process::id(), "streamId": number, "address": address });
        self.begun()?.0.metadata("stream", &row.to_string())?;
        self.calls.streams.insert(address, number);
        Ok(number)
    }
}

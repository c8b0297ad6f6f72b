//! The exchange of two names.

use std::io;
use std::path::Path;

/// Exchanges two files or folders in one step, so that at every moment each name has one of them; Windows never can.
pub fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    cfg_select! {
        unix => {
            use rustix::fs::{CWD, RenameFlags, renameat_with};
            Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
        }
        windows => {
            let what = format!("no exchange of {} and {}", one.display(), other.display());
            Err(io::Error::new(io::ErrorKind::Unsupported, what))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn two_folders_exchange_their_names() {
        let folder = tempfile::tempdir().unwrap();
        let [one, other] = ["one", "other"].map(|name| folder.path().join(name));
        std::fs::create_dir_all(one.join("inner")).unwrap();
        std::fs::create_dir(&other).unwrap();
        exchange(&one, &other).unwrap();
        assert!(!one.join("inner").exists() && other.join("inner").exists());
        assert!(exchange(&one, &folder.path().join("missing")).is_err());
    }
}

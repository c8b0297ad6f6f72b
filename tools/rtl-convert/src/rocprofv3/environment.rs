//! The environment of a process, from which readers take its rank.

use rtl_schema::table::Process;
use serde_json::{Value, json};

/// The stored environment, or the variables of the rank.
pub fn of(process: &Process) -> Option<Value> {
    let stored = process.environment.as_deref().and_then(|text| serde_json::from_str::<Value>(text).ok());
    if let Some(stored @ Value::Object(_)) = stored {
        return Some(stored);
    }
    let rank = process.rank?;
    let mut variables = json!({ "RANK": rank.to_string() });
    if let Some(world) = process.world {
        variables["WORLD_SIZE"] = world.to_string().into();
    }
    Some(variables)
}

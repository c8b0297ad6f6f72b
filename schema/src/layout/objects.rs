//! Metadata values that are JSON objects: one for each process, agent, thread and kernel. Their fields are those of the
//! types in [`crate::table`].

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// The fields of `object`, without those that are unknown.
pub fn known(object: &impl Serialize) -> Map<String, Value> {
    let Ok(Value::Object(mut fields)) = serde_json::to_value(object) else { return Map::new() };
    fields.retain(|_, value| !value.is_null());
    fields
}

/// An object of these fields; those of an unexpected type are unknown.
pub(crate) fn read<T: DeserializeOwned + Default>(fields: &Map<String, Value>) -> T {
    T::deserialize(fields).unwrap_or_else(|_| {
        let mut fields = fields.clone();
        fields.retain(|field, value| T::deserialize(&json!({ field: value })).is_ok());
        T::deserialize(&fields).unwrap_or_default()
    })
}

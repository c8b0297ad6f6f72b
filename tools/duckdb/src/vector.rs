//! Reads vectors of results.

use crate::functions;
use crate::handles::{TypeHandle, VectorHandle};
use crate::logical_type::LogicalType;
use crate::value::Value;

/// The type of a vector's values, and how they lie in memory.
#[derive(Debug)]
pub(crate) enum VectorType {
    Null,
    Bool,
    Integer(Width),
    Decimal(Width, u8),
    Float,
    Double,
    Text,
    Enum(Width, Vec<String>),
    List(Box<VectorType>),
    Struct(Vec<(String, VectorType)>),
}

/// How an integer lies in memory.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Width {
    I8,
    I16,
    I32,
    I64,
    I128,
    U8,
    U16,
    U32,
    U64,
    U128,
}

impl Width {
    fn from_id(id: u32) -> Option<Self> {
        Some(match id {
            2 => Self::I8,
            3 => Self::I16,
            4 => Self::I32,
            5 => Self::I64,
            6 => Self::U8,
            7 => Self::U16,
            8 => Self::U32,
            9 => Self::U64,
            16 => Self::I128,
            32 => Self::U128,
            _ => return None,
        })
    }
}

impl VectorType {
    /// The form of a type, which is destroyed; `None` of a type without a form here.
    pub(crate) fn take(of: TypeHandle) -> Option<Self> {
        let of = LogicalType(of);
        // The numbers of `duckdb_type`.
        Some(match functions::get_type_id(of.0) {
            1 => Self::Bool,
            10 => Self::Float,
            11 => Self::Double,
            17 => Self::Text,
            19 => Self::Decimal(
                Width::from_id(functions::decimal_internal_type(of.0))?,
                functions::decimal_scale(of.0),
            ),
            23 => Self::Enum(Width::from_id(functions::enum_internal_type(of.0))?, dictionary(&of)),
            24 | 26 => Self::List(Box::new(Self::take(functions::list_type_child_type(of.0))?)),
            25 => {
                let fields = 0..functions::struct_type_child_count(of.0);
                let field = |at| {
                    let name = functions::owned_text(functions::struct_type_child_name(of.0, at));
                    Some((name, Self::take(functions::struct_type_child_type(of.0, at))?))
                };
                Self::Struct(fields.map(field).collect::<Option<_>>()?)
            }
            36 => Self::Null,
            id => Self::Integer(Width::from_id(id)?),
        })
    }

    pub(crate) fn is_number(&self) -> bool {
        matches!(self, Self::Integer(_) | Self::Decimal(..) | Self::Float | Self::Double)
    }
}

/// All texts of an enumeration.
fn dictionary(of: &LogicalType) -> Vec<String> {
    let size = functions::enum_dictionary_size(of.0).into();
    (0..size).map(|at| functions::owned_text(functions::enum_dictionary_value(of.0, at))).collect()
}

/// The values of a vector of a chunk, which the caller keeps until the end.
pub(crate) struct Reader<'a> {
    kind: &'a VectorType,
    data: *const u8,
    validity: *const u64,
    children: Vec<Reader<'a>>,
}

/// Reads the value of a type at a row. The data of the vector has it there.
macro_rules! at {
    ($reader:expr, $row:expr, $type:ty) => {{
        // SAFETY: A vector of this type has its values one after the other, and the row exists.
        let place = unsafe { $reader.data.cast::<$type>().add($row) };
        // SAFETY: As above; it need not be aligned.
        unsafe { place.read_unaligned() }
    }};
}

impl<'a> Reader<'a> {
    pub(crate) fn new(vector: VectorHandle, kind: &'a VectorType) -> Self {
        let children = match kind {
            VectorType::List(child) => vec![Reader::new(functions::list_vector_get_child(vector), child)],
            VectorType::Struct(fields) => {
                let child = |at| functions::struct_vector_get_child(vector, at as u64);
                fields.iter().enumerate().map(|(at, (_, kind))| Reader::new(child(at), kind)).collect()
            }
            _ => Vec::new(),
        };
        let data = functions::vector_get_data(vector).cast_const().cast();
        Self { kind, data, validity: functions::vector_get_validity(vector), children }
    }

    fn is_valid(&self, row: usize) -> bool {
        if self.validity.is_null() {
            return true;
        }
        // SAFETY: A mask has a bit for every row of the vector.
        let place = unsafe { self.validity.add(row / 64) };
        // SAFETY: As above.
        let word = unsafe { place.read() };
        word >> (row % 64) & 1 == 1
    }

    fn integer(&self, row: usize, width: Width) -> i128 {
        match width {
            Width::I8 => at!(self, row, i8).into(),
            Width::I16 => at!(self, row, i16).into(),
            Width::I32 => at!(self, row, i32).into(),
            Width::I64 => at!(self, row, i64).into(),
            Width::I128 => at!(self, row, i128),
            Width::U8 => at!(self, row, u8).into(),
            Width::U16 => at!(self, row, u16).into(),
            Width::U32 => at!(self, row, u32).into(),
            Width::U64 => at!(self, row, u64).into(),
            Width::U128 => at!(self, row, u128).cast_signed(),
        }
    }

    fn text(&self, row: usize) -> String {
        // `duckdb_string_t`: the length, then up to 12 bytes, or 4 of them and a pointer to all.
        let [length, _, low, high] = at!(self, row, [u32; 4]);
        let bytes = if length <= 12 {
            let inline: [u8; 16] = at!(self, row, [u8; 16]);
            inline[4..4 + length as usize].to_vec()
        } else {
            let pointer = (u64::from(high) << 32 | u64::from(low)) as *const u8;
            // SAFETY: A longer text has that many bytes there, as long as its chunk lives.
            unsafe { std::slice::from_raw_parts(pointer, length as usize) }.to_vec()
        };
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The value of a row.
    pub(crate) fn get(&self, row: usize) -> Value {
        if !self.is_valid(row) {
            return Value::Null;
        }
        match self.kind {
            VectorType::Null => Value::Null,
            VectorType::Bool => Value::Bool(at!(self, row, u8) != 0),
            VectorType::Integer(width) => Value::Integer(self.integer(row, *width)),
            VectorType::Decimal(width, scale) => Value::Decimal(self.integer(row, *width), *scale),
            VectorType::Float => Value::Float(at!(self, row, f32).into()),
            VectorType::Double => Value::Float(at!(self, row, f64)),
            VectorType::Text => Value::Text(self.text(row)),
            VectorType::Enum(width, texts) => {
                let text = usize::try_from(self.integer(row, *width)).ok().and_then(|at| texts.get(at));
                text.cloned().map_or(Value::Null, Value::Text)
            }
            VectorType::List(_) => {
                let [offset, length] = at!(self, row, [u64; 2]);
                Value::List((offset..offset + length).map(|at| self.children[0].get(at as usize)).collect())
            }
            VectorType::Struct(fields) => {
                let names = fields.iter().map(|(name, _)| name.clone());
                Value::Struct(names.zip(self.children.iter().map(|child| child.get(row))).collect())
            }
        }
    }
}

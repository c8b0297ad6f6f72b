//! The columns of `rocpd_op` of which a dispatch is made, declared once for both paths of reading.

use super::launch_columns::LaunchFields;
use super::{Field, Plan, Variant};
use crate::sqlite::{Database, Row};
use crate::table::Details;
use crate::{Result, Select};

/// When a fast row may lack a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    /// A row without an integer here is no fast one.
    Integer,
    Nullable,
    /// As [`Self::Nullable`], of a column that many scans do not read: their fast rows take less memory without.
    Detail,
}

macro_rules! op_columns {
    ($($(#[$meta:meta])* $column:ident: $name:literal, $need:ident;)*) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum OpColumn {
            $($(#[$meta])* $column,)*
        }

        impl OpColumn {
            /// Every column with its name, in the order of [`Self::position`].
            pub(super) const ALL: &[(Self, &str, Need)] = &[$((Self::$column, $name, Need::$need),)*];
        }
    };
}
op_columns! {
    Gpu: "gpuId", Integer;
    Queue: "queueId", Integer;
    Start: "start", Integer;
    End: "end", Integer;
    Name: "description_id", Integer;
    Type: "opType_id", Integer;
    Range: "roctxId", Nullable;
    /// The pid, or another number of the process.
    Process: "pid", Nullable;
    Tid: "tid", Detail;
    Correlation: "correlationId", Detail;
    Symbol: "symbol", Detail;
}

impl OpColumn {
    /// All columns, with those of [`Details`] at the end.
    pub(super) const COUNT: usize = Self::ALL.len() + Details::ALL.len();

    /// The columns without those of [`Need::Detail`], which come last.
    pub(super) const BASIC: usize = {
        let mut columns = 0;
        while !matches!(Self::ALL[columns].2, Need::Detail) {
            columns += 1;
        }
        columns
    };

    /// The place among all columns, and so in a fast row.
    #[inline(always)]
    pub(super) fn position(self) -> usize {
        self as usize
    }

    /// [`Need`] of the column at a position.
    pub(super) fn need(position: usize) -> Need {
        Self::ALL.get(position).map_or(Need::Detail, |&(_, _, need)| need)
    }

    /// True where a select needs it, `links` to calls included.
    fn is_read(self, select: &Select, variant: &Variant, links: bool) -> bool {
        match self {
            Self::Gpu | Self::Queue | Self::Start | Self::End | Self::Name | Self::Type | Self::Process => {
                true
            }
            Self::Range => select.ranges,
            Self::Tid | Self::Correlation => links,
            Self::Symbol => select.launch && variant.typed_ops,
        }
    }
}

/// A row of `rocpd_op`, of either path.
pub(super) trait OpRow {
    /// False of rows that are read only where no dispatch has more than the columns without [`Need::Detail`].
    const HAS_DETAILS: bool;

    fn id(&self) -> i64;
    /// The integer of the column at a position; `None` where it is NULL or not read.
    fn int_at(&self, position: usize) -> Option<i64>;

    #[inline(always)]
    fn int(&self, column: OpColumn) -> Option<i64> {
        self.int_at(column.position())
    }

    #[inline(always)]
    fn details(&self) -> Details {
        Details::from_fn(|at| self.int_at(OpColumn::ALL.len() + at))
    }
}

/// Where the rows of a scan have the columns of `rocpd_op`.
#[derive(Debug)]
pub(crate) struct OpFields {
    pub(crate) plan: Plan,
    columns: [Field; OpColumn::COUNT],
    pub(super) stream: Field,
    /// The launch shape as text.
    pub(super) signal: Field,
    pub(super) launch: LaunchFields,
    /// Columns of copies.
    pub(super) bytes: Field,
    pub(super) peer: Field,
    /// Columns of annotations.
    pub(super) sequence: Field,
    pub(super) category: Field,
}

impl OpFields {
    /// The columns of a select, `links` to calls among them.
    pub(crate) fn new(database: &Database, variant: &Variant, select: &Select, links: bool) -> Result<Self> {
        let mut plan = Plan::new(database, "rocpd_op")?;
        let mut columns = [Field::default(); OpColumn::COUNT];
        for &(column, name, _) in OpColumn::ALL {
            columns[column.position()] = plan.add_if(column.is_read(select, variant, links), name);
        }
        for (field, detail) in columns[OpColumn::ALL.len()..].iter_mut().zip(Details::ALL) {
            *field = plan.add_if(select.links && variant.typed_ops, detail.stored);
        }
        let annotations = select.ranges && variant.typed_ops;
        Ok(Self {
            columns,
            stream: plan.add("streamId"),
            signal: plan.add_if(select.any_shape() && variant.signal_is_shape, "completionSignal"),
            launch: LaunchFields::new(&mut plan, select, variant.typed_ops),
            bytes: plan.add("bytes"),
            peer: plan.add("peer"),
            sequence: plan.add_if(annotations, "sequenceId"),
            category: plan.add_if(annotations, "category_id"),
            plan,
        })
    }

    /// Where the rows have the column at a position.
    #[inline(always)]
    pub(super) fn field(&self, position: usize) -> Field {
        self.columns[position]
    }

    /// True of a row with a value in a column that [`Need::Detail`] marks.
    pub(super) fn has_details(&self, row: &Row<'_>) -> bool {
        self.columns[OpColumn::BASIC..].iter().any(|field| !field.is_null(row))
    }
}

/// A row with all columns of the scan.
#[derive(Debug, Clone, Copy)]
pub(super) struct ScannedRow<'a, 'r> {
    pub(super) row: &'a Row<'r>,
    pub(super) fields: &'a OpFields,
}

impl OpRow for ScannedRow<'_, '_> {
    const HAS_DETAILS: bool = true;

    #[inline]
    fn id(&self) -> i64 {
        self.row.id()
    }

    #[inline]
    fn int_at(&self, position: usize) -> Option<i64> {
        self.fields.field(position).int(self.row)
    }
}

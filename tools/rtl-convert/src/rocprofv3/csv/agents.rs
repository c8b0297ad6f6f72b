//! `agent_info.csv`.

use serde_json::Value;

use super::file::Cells;
use crate::rocprofv3::devices::Device;

/// The columns. In lower case each is a field of `agents[]` in the JSON, except the type and the axes of dimensions.
const COLUMNS: [&str; 53] = [
    "Node_Id",
    "Logical_Node_Id",
    "Agent_Type",
    "Cpu_Cores_Count",
    "Simd_Count",
    "Cpu_Core_Id_Base",
    "Simd_Id_Base",
    "Max_Waves_Per_Simd",
    "Lds_Size_In_Kb",
    "Gds_Size_In_Kb",
    "Num_Gws",
    "Wave_Front_Size",
    "Num_Xcc",
    "Cu_Count",
    "Array_Count",
    "Num_Shader_Banks",
    "Simd_Arrays_Per_Engine",
    "Cu_Per_Simd_Array",
    "Simd_Per_Cu",
    "Max_Slots_Scratch_Cu",
    "Gfx_Target_Version",
    "Vendor_Id",
    "Device_Id",
    "Location_Id",
    "Domain",
    "Drm_Render_Minor",
    "Num_Sdma_Engines",
    "Num_Sdma_Xgmi_Engines",
    "Num_Sdma_Queues_Per_Engine",
    "Num_Cp_Queues",
    "Max_Engine_Clk_Ccompute",
    "Max_Engine_Clk_Fcompute",
    "Sdma_Fw_Version",
    "Fw_Version",
    "Capability",
    "Cu_Per_Engine",
    "Max_Waves_Per_Cu",
    "Family_Id",
    "Workgroup_Max_Size",
    "Grid_Max_Size",
    "Local_Mem_Size",
    "Hive_Id",
    "Gpu_Id",
    "Workgroup_Max_Dim_X",
    "Workgroup_Max_Dim_Y",
    "Workgroup_Max_Dim_Z",
    "Grid_Max_Dim_X",
    "Grid_Max_Dim_Y",
    "Grid_Max_Dim_Z",
    "Name",
    "Vendor_Name",
    "Product_Name",
    "Model_Name",
];

/// Unknown values are empty.
pub(super) fn columns(device: &Device, row: &mut Cells) {
    for column in COLUMNS {
        let field = column.to_ascii_lowercase();
        let value = match field.rsplit_once("_dim_") {
            Some((dimension, axis)) => &device.details[format!("{dimension}_dim")][axis],
            None => &device.details[field.as_str()],
        };
        match (column, value) {
            ("Agent_Type", _) => row.text(column, device.type_name().unwrap_or_default()),
            ("Name" | "Vendor_Name" | "Product_Name" | "Model_Name", value) => {
                row.text(column, value.as_str().unwrap_or_default());
            }
            (_, Value::Number(number)) => row.plain(column, &number.to_string()),
            _ => row.plain(column, ""),
        }
    }
}

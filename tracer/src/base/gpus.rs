//! The GPUs that the runtime shows to this process.

use std::ffi::c_void;
use std::path::Path;

use hsa_sys::bindings::{
    HSA_AGENT_INFO_NAME, HSA_AMD_AGENT_INFO_BDFID, HSA_AMD_AGENT_INFO_DOMAIN,
    HSA_AMD_AGENT_INFO_DRIVER_NODE_ID, HSA_AMD_AGENT_INFO_PRODUCT_NAME, HSA_AMD_AGENT_INFO_UUID,
    HSA_STATUS_SUCCESS, hsa_agent_t,
};
use serde_json::json;

use crate::base::api::Api;

#[derive(Clone, Debug, Default)]
pub struct Gpu {
    /// Position among the GPUs that the runtime lists, from 0; `gpuId` in the file.
    pub number: u16,
    /// Handle of the `hsa_agent_t`.
    pub agent: u64,
    pub details: Details,
}

/// Properties that identify a GPU, also among those of other processes. `None` is unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Details {
    /// Such as `gfx942`.
    pub target: Option<String>,
    /// Such as `AMD Instinct MI300X`.
    pub product: Option<String>,
    /// Serial number, such as `GPU-1f0c...`.
    pub uuid: Option<String>,
    /// Number in the driver's topology, among all nodes of the machine with the CPUs.
    pub node: Option<u32>,
    pub domain: Option<u32>,
    /// PCI bus, device and function in one number.
    pub bdf: Option<u32>,
}

/// All GPUs in the runtime's order.
#[must_use]
pub fn list(api: &Api) -> Vec<Gpu> {
    (0..)
        .zip(api.gpus())
        .map(|(number, agent)| Gpu { number, agent, details: Details::read(api, agent) })
        .collect()
}

impl Details {
    fn read(api: &Api, agent: u64) -> Self {
        Self {
            target: text(api, agent, HSA_AGENT_INFO_NAME),
            product: text(api, agent, HSA_AMD_AGENT_INFO_PRODUCT_NAME),
            // Runtimes give `GPU-XX` for a device without a serial number.
            uuid: text(api, agent, HSA_AMD_AGENT_INFO_UUID).filter(|uuid| !uuid.ends_with("-XX")),
            node: number(api, agent, HSA_AMD_AGENT_INFO_DRIVER_NODE_ID),
            domain: number(api, agent, HSA_AMD_AGENT_INFO_DOMAIN),
            bdf: number(api, agent, HSA_AMD_AGENT_INFO_BDFID),
        }
    }

    /// PCI address, such as `0000:83:00.0`.
    #[must_use]
    pub fn pci(&self) -> Option<String> {
        let bdf = self.bdf?;
        let (bus, device, function) = (bdf >> 8 & 0xff, bdf >> 3 & 0x1f, bdf & 7);
        Some(format!("{:04x}:{bus:02x}:{device:02x}.{function}", self.domain.unwrap_or(0)))
    }
}

impl Gpu {
    /// The text of the metadata row (docs/reference/native.md, tag `gpu`).
    #[must_use]
    pub fn row(&self) -> String {
        let Details { target, product, uuid, node, .. } = &self.details;
        let minor = node.and_then(render_minor);
        let details = json!({
            "pci": self.details.pci(),
            "renderMinor": minor,
            "partition": minor.and_then(partition),
        });
        let row = json!({
            "number": self.number,
            "sourceId": self.number,
            "typeIndex": self.number,
            "absoluteIndex": node,
            "target": target,
            "product": product,
            "uuid": uuid,
            "details": known(details),
        });
        known(row).to_string()
    }
}

/// Removes the fields that are unknown.
pub(crate) fn known(mut row: serde_json::Value) -> serde_json::Value {
    if let Some(fields) = row.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    row
}

/// Number of the render node, from the driver's topology.
fn render_minor(node: u32) -> Option<u32> {
    let path = format!("/sys/class/kfd/kfd/topology/nodes/{node}/properties");
    let properties = std::fs::read_to_string(path).ok()?;
    let minor = properties.lines().find_map(|line| line.strip_prefix("drm_render_minor "))?;
    minor.trim().parse().ok().filter(|&minor| minor > 0)
}

/// Partition mode of the device, such as `SPX` or `CPX`.
fn partition(minor: u32) -> Option<String> {
    let device = Path::new("/sys/class/drm").join(format!("renderD{minor}/device"));
    let mode = std::fs::read_to_string(device.join("current_compute_partition")).ok()?;
    Some(mode.trim().to_owned()).filter(|mode| !mode.is_empty())
}

/// Reads an attribute of an agent into `value`, which must be of the attribute's type.
#[expect(unsafe_code, reason = "calls the runtime")]
fn query(api: &Api, agent: u64, attribute: u32, value: *mut c_void) -> bool {
    let Some(get_info) = api.core.hsa_agent_get_info_fn else { return false };
    // SAFETY: both callers pass memory of the attribute's type, for texts more than the 64 bytes that the runtime writes at most.
    // For an attribute that it does not know it returns an error.
    let status = unsafe { get_info(hsa_agent_t { handle: agent }, attribute, value) };
    status == HSA_STATUS_SUCCESS
}

fn text(api: &Api, agent: u64, attribute: u32) -> Option<String> {
    let mut bytes = [0_u8; 128];
    if !query(api, agent, attribute, bytes.as_mut_ptr().cast()) {
        return None;
    }
    let end = bytes.iter().position(|&byte| byte == 0)?;
    let text = String::from_utf8_lossy(&bytes[..end]).trim().to_owned();
    Some(text).filter(|text| !text.is_empty())
}

fn number(api: &Api, agent: u64, attribute: u32) -> Option<u32> {
    let mut number = 0_u32;
    query(api, agent, attribute, (&raw mut number).cast()).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_on_the_bus_is_written_as_lspci_does() {
        let details = Details { domain: Some(1), bdf: Some(0x8319), ..Details::default() };
        assert_eq!(details.pci().as_deref(), Some("0001:83:03.1"));
        assert_eq!(Details::default().pci(), None);
    }

    #[test]
    fn a_row_has_only_what_is_known() {
        let gpu = Gpu { number: 2, ..Gpu::default() };
        assert_eq!(gpu.row(), r#"{"details":{},"number":2,"sourceId":2,"typeIndex":2}"#);
        let details = Details { target: Some("gfx942".to_owned()), bdf: Some(0x300), ..Details::default() };
        let row = Gpu { details, ..gpu }.row();
        assert!(row.contains(r#""target":"gfx942""#) && row.contains(r#""pci":"0000:03:00.0""#), "{row}");
    }
}

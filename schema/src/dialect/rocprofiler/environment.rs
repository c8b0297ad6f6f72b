use serde_json::Value;

/// Launchers' variables for the rank and, beside each, those for the number of ranks. torchrun's come
/// first: with one torchrun per machine, SLURM_PROCID counts machines.
const RANKS: [(&str, &[&str]); 8] = [
    ("RANK", &["WORLD_SIZE"]),
    ("PMIX_RANK", &["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"]),
    ("OMPI_COMM_WORLD_RANK", &["OMPI_COMM_WORLD_SIZE"]),
    ("PMI_RANK", &["PMI_SIZE"]),
    ("MV2_COMM_WORLD_RANK", &["MV2_COMM_WORLD_SIZE"]),
    ("SLURM_PROCID", &["SLURM_NTASKS", "SLURM_NPROCS"]),
    ("PALS_RANKID", &["PALS_SIZE"]),
    ("FLUX_TASK_RANK", &["FLUX_JOB_SIZE"]),
];

/// Rank and number of ranks in an environment (a JSON object of variables).
pub(crate) fn rank(environment: &str) -> (Option<u32>, Option<u32>) {
    let Ok(Value::Object(variables)) = serde_json::from_str(environment) else {
        return (None, None);
    };
    let number = |name: &str| match variables.get(name)? {
        Value::String(text) => text.trim().parse().ok(),
        Value::Number(value) => u32::try_from(value.as_u64()?).ok(),
        _ => None,
    };
    RANKS
        .iter()
        .find_map(|(name, sizes)| Some((number(name)?, sizes.iter().find_map(|size| number(size)))))
        .map_or((None, None), |(rank, world)| (Some(rank), world))
}

#[cfg(test)]
mod tests {
    use super::rank;

    #[test]
    fn torchrun_comes_before_slurm() {
        let both = r#"{"SLURM_PROCID": "1", "SLURM_NTASKS": "2", "RANK": "11", "WORLD_SIZE": "16", "LOCAL_RANK": "3"}"#;
        assert_eq!(rank(both), (Some(11), Some(16)));
    }

    #[test]
    fn a_rank_without_a_size_is_still_a_rank() {
        assert_eq!(rank(r#"{"OMPI_COMM_WORLD_RANK": "7"}"#), (Some(7), None));
        assert_eq!(rank(r#"{"RANK": "x", "PMI_RANK": 3, "PMI_SIZE": 4}"#), (Some(3), Some(4)));
    }

    #[test]
    fn no_environment_has_no_rank() {
        for text in ["", "{}", "[]", "{\"RANK\": -1}", "not json"] {
            assert_eq!(rank(text), (None, None));
        }
    }
}

-- What SQLite itself adds to a file of RPD's layout: the two indexes of every such file, and the last ids.

CREATE INDEX rocpd_strin_string_c7b9cd_idx ON rocpd_string (string);
CREATE INDEX rocpd_ustri_string_84d4a7_idx ON rocpd_ustring (string);

INSERT INTO sqlite_sequence (name, seq)
SELECT 'rocpd_metadata', max(id) FROM rocpd_metadata
UNION ALL SELECT 'rocpd_string', max(id) FROM rocpd_string
UNION ALL SELECT 'rocpd_ustring', max(id) FROM rocpd_ustring
UNION ALL SELECT 'rocpd_api', max(id) FROM rocpd_api
UNION ALL SELECT 'rocpd_op', max(id) FROM rocpd_op
UNION ALL SELECT 'rocpd_api_ops', max(id) FROM rocpd_api_ops
UNION ALL SELECT 'rocpd_monitor', max(id) FROM rocpd_monitor
UNION ALL SELECT 'rocpd_counter', max(id) FROM rocpd_counter
UNION ALL SELECT 'rocpd_stackframe', max(id) FROM rocpd_stackframe;
DELETE FROM sqlite_sequence WHERE seq IS NULL;

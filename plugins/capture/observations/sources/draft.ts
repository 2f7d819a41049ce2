/** What a source is made from, and made again. */
import {
  defaulted,
  doc,
  enums,
  integer,
  named,
  notBlank,
  object,
  optional,
  string,
  type Infer,
} from '../../../../core/plugin.js'
import { limitFields, sensitivities, SourceId, sourceKinds } from '../record/structs.js'

const day = 86_400
/** Visible ASCII, which a header can carry; blanks around it do not count. */
export const UploadToken = doc(
  string({
    min: 1,
    max: 1024,
    pattern: '^\\s*[!-~]+\\s*$',
    told: 'must be characters of ASCII without blanks between them',
  }),
  'What the source sends as its bearer. It is kept as its SHA-256 alone.',
)

const draftFields = {
  display_name: string({ min: 1, max: 200, pattern: notBlank }),
  kind: enums(sourceKinds),
  upload_token: UploadToken,
  sensitivity: defaulted(enums(sensitivities), 'sensitive'),
  retention_seconds: defaulted(limitFields.retention_seconds, 7 * day),
  max_active_observations: defaulted(limitFields.max_active_observations, 512),
  max_active_bytes: defaulted(limitFields.max_active_bytes, 512 * 1024 * 1024),
  ingest_rate_limit_window_ms: defaulted(limitFields.ingest_rate_limit_window_ms, 60_000),
  ingest_rate_limit_burst: defaulted(limitFields.ingest_rate_limit_burst, 120),
  purge_raw_on_retention: defaulted(limitFields.purge_raw_on_retention, false),
  allow_materialization: defaulted(limitFields.allow_materialization, true),
  allow_output_delivery: defaulted(limitFields.allow_output_delivery, false),
}
/** What an operator creates a source from, or makes it again (observations-1, observations-2). */
export const SourceCreateRequest = named(
  'ObservationSourceCreateRequest',
  object({ source_id: optional(doc(SourceId, 'Chosen by the daemon when absent.')), ...draftFields }),
)
const Draft = object({ source_id: SourceId, ...draftFields })
/** What a source is made from, with every default. */
export type SourceDraft = Infer<typeof Draft>

/** New tokens, and how long the one before opens beside it. */
export const RotateRequest = object({
  upload_token: UploadToken,
  grace_period_ms: defaulted(doc(integer({ min: 0, max: day * 1000 }), 'How long the token before still opens.'), 0),
})
/** The value form of `RotateRequest`. */
export type RotateRequest = Infer<typeof RotateRequest>

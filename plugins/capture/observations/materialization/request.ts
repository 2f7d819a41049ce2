/** Which observations a run is given, and what it is told beside them (observations-17). */
import {
  array,
  boolean,
  defaulted,
  doc,
  enums,
  integer,
  literal,
  named,
  object,
  optional,
  string,
  tagged,
  type Infer,
} from '../../../../core/plugin.js'
import { SubmitInputRequest } from '../../../execution/runs/contract.js'
import { SessionId } from '../../../execution/sessions/contract.js'
import { SourceId, StreamId } from '../record/structs.js'

/** Observations that one run is given at most. */
const most = 100
const latest = {
  max_observations: defaulted(doc(integer({ min: 1, max: most }), 'The newest so many.'), 3),
  lookback_seconds: optional(doc(integer({ min: 1 }), 'Only what was captured within so many seconds.')),
}
/** Which observations are given. Those that were purged are not. */
export const ObservationSelection = tagged('type', {
  observation_ids: object({
    type: literal('observation_ids'),
    observation_ids: array(string({ min: 1, max: 200 }), { min: 1, max: most }),
  }),
  latest_from_source: object({ type: literal('latest_from_source'), source_id: SourceId, ...latest }),
  latest_from_stream: object({
    type: literal('latest_from_stream'),
    source_id: SourceId,
    stream_id: StreamId,
    ...latest,
  }),
  observation_group: object({
    type: literal('observation_group'),
    capture_group_id: doc(string({ min: 1, max: 256 }), 'As their metadata name it, whatever source they are of.'),
    ...latest,
  }),
})
/** The value form of `ObservationSelection`. */
export type ObservationSelection = Infer<typeof ObservationSelection>

const filePolicies = ['auto', 'never', 'always'] as const
/** One of them: with `auto` the run is given pictures, and of sound its text. */
export type FilePolicy = (typeof filePolicies)[number]

/** What a run is made from that is given observations, as fields of a request. */
export const materializationFields = {
  target_session_id: SessionId,
  selection: ObservationSelection,
  request: doc(SubmitInputRequest, 'What the run is told to do with them.'),
  include_raw_assets: defaulted(doc(boolean(), 'True means auto, false never.'), true),
  raw_asset_policy: optional(doc(enums(filePolicies), 'Whose files are given; counts before include_raw_assets.')),
  fail_when_empty: defaulted(doc(boolean(), 'False makes the run also where nothing is found.'), true),
}
/** What a run is made from that is given observations. */
export const MaterializationRequest = named('ObservationMaterializationRequest', object(materializationFields))
/** The value form of `MaterializationRequest`. */
export type MaterializationRequest = Infer<typeof MaterializationRequest>

export const policyOf = ({ raw_asset_policy, include_raw_assets }: MaterializationRequest): FilePolicy =>
  raw_asset_policy ?? (include_raw_assets ? 'auto' : 'never')

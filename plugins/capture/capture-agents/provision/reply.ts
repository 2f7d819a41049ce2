/** What a provision answers: the only place where tokens of agents are told. */
import { array, doc, enums, integer, named, object, string, timestamp, type Infer } from '../../../../core/plugin.js'
import { sourceKinds } from '../../observations/contract.js'
import { osProfiles } from '../client/agent-file.js'

const ProvisionedAgent = object({
  machine_id: string(),
  os_profile: enums(osProfiles),
  heartbeat_interval_ms: integer({ min: 1 }),
  heartbeat_grace_ms: integer({ min: 1 }),
  heartbeat_deadline_ms: timestamp(),
  heartbeat_token: doc(string(), 'Told here and nowhere else.'),
  token_expires_at_ms: timestamp(),
  config_toml: doc(string(), 'The file that holdfast capture runs with; it holds the tokens.'),
  sources: array(
    object({
      source_id: string(),
      kind: enums(sourceKinds),
      lease_id: string(),
      expires_at_ms: timestamp(),
      upload_token: doc(string(), 'Told here and nowhere else.'),
    }),
  ),
})
/** What a provision answers. */
export const ProvisionReply = named('CaptureProvision', object({ batch_id: string(), agents: array(ProvisionedAgent) }))
/** The value form of `ProvisionReply`. */
export type ProvisionReply = Infer<typeof ProvisionReply>

/** How a model has something said in a channel. */
import { array, doc, enums, object, optional, string, timestamp, type Tx } from '../../../core/plugin.js'
import { defineTool, type Tool } from '../../execution/tools/contract.js'
import { channelErrors, type Channels } from '../channels/contract.js'
import { stimulusKinds, type StimulusDraft } from './contract.js'
import { mostContent, mostName } from './create.js'
import { scopes, visibilityHints, type StimulusRecord } from './record/stimulus.js'

export interface ToolParts {
  readonly channels: Channels
  readonly create: (tx: Tx, draft: StimulusDraft) => StimulusRecord
}

const name = () => optional(string({ max: mostName }))
const Wish = object({
  channel_id: string({ min: 1, max: mostName }),
  content: doc(string({ min: 1, max: mostContent }), 'What is said.'),
  kind: optional(enums(stimulusKinds)),
  scope: optional(doc(enums(scopes), 'channel to open a subject, the default; thread to continue one.')),
  thread_root_message_id: name(),
  visibility_hint: optional(enums(visibilityHints)),
  addressed_member_ids: optional(array(string({ max: 400 }), { max: 100 })),
  source_kind: name(),
  source_ref: name(),
  dedupe_key: optional(doc(string({ max: mostName }), 'Names what it is about: what is the same is said once.')),
  progress_key: name(),
  expires_at_ms: optional(timestamp()),
})

/** The stimulus is kept in the commit of the outcome: a call that is made again keeps one. */
export const createChannelStimulus = ({ channels, create }: ToolParts): Tool =>
  defineTool({
    name: 'create_channel_stimulus',
    seldom: true,
    description:
      'Has something said in a channel that you are a member of, when its policy lets it: an idea, a result, or how ' +
      'far something is. To answer a message that you were asked about, use emit_output instead.',
    input: Wish,
    effect: 'idempotent',
    permission: 'allow',
    parallel: false,
    timeout_ms: 30_000,
    sandbox: 'read_only',
    run({ kind = 'agent_idea', scope = 'channel', ...wish }, { session_id, run_id }) {
      const { channel_id } = wish
      const draft: StimulusDraft = {
        ...wish,
        kind,
        scope,
        source_kind: wish.source_kind ?? (kind === 'agent_idea' ? 'agent_idea' : 'agent'),
        source_ref: wish.source_ref ?? run_id,
        sender_session_id: session_id,
        metadata: { requested_by_session_id: session_id, requested_by_run_id: run_id },
      }
      const keep = (tx: Tx): StimulusRecord => {
        // Who is no member does not learn whether there is such a channel.
        if (channels.find(channel_id) === undefined || channels.memberOf(channel_id, session_id) === undefined)
          throw channelErrors.channel_not_found({ details: { channel_id } })
        return create(tx, draft)
      }
      return { type: 'result', output: { accepted: true, channel_id }, apply: (tx) => void keep(tx) }
    },
  })

/** What a run says in the channel: its last output by emit_output; everything else is silence (floor-8). */
import type { RunRecord, Runs } from '../../../execution/runs/contract.js'
import type { OutputDraft } from '../../../execution/sessions/contract.js'
import type { MemberRecord, MessageOutput, PostDraft } from '../../channels/contract.js'
import type { LeaseRecord } from '../record/lease.js'

const says = ({ content, parts = [], artifacts = [] }: OutputDraft): boolean =>
  content.trim() !== '' || parts.length + artifacts.length > 0

export const answerOf = (runs: Pick<Runs, 'entries'>, run: RunRecord): MessageOutput | undefined => {
  for (const seq of (run.outputs ?? []).toReversed()) {
    const [found] = runs.entries(run, seq - 1)
    const output = found?.entry.type === 'event' && found.entry.event.type === 'output' && found.entry.event.output
    if (output && output.source_kind === 'emit_output' && says(output))
      return { content: output.content, parts: output.parts ?? [], artifacts: output.artifacts ?? [] }
  }
  return undefined
}

export const postOf = (
  { channel_id, thread_root_message_id, origin_message_id, holder_session_id, active_run_id, turn_id }: LeaseRecord,
  { display_name }: MemberRecord,
  output: MessageOutput,
): PostDraft => ({
  channel_id,
  sender: { id: holder_session_id, display_name },
  sender_session_id: holder_session_id,
  root_message_id: thread_root_message_id,
  reply_to_message_id: origin_message_id,
  output,
  metadata: { source_kind: 'channel_delivery', source_run_id: active_run_id, turn_id },
})

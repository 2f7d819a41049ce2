/** The run of a turn: what it is told and given, where it comes from, and that nothing of it leaves by itself. */
import { type Tx } from '../../../../core/plugin.js'
import { type RunOrigin, type RunRecord, type Runs, type Submission } from '../../../execution/runs/contract.js'
import { attachmentOf, filesIn, type Assets, type AttachmentRef } from '../../../media/assets/contract.js'
import type { ChannelRecord, MemberRecord, MessageRecord } from '../../channels/contract.js'
import { factsFor, type Asked, type FactParts } from './facts.js'
import { toldOf } from './told.js'

export interface StartParts extends FactParts {
  readonly runs: Runs
  readonly assets: () => Assets | undefined
}

/** A turn that is to begin. */
export interface Turn extends Asked {
  readonly turn_id: string
  readonly member: MemberRecord
  readonly session_id: string
  readonly origin: MessageRecord
  /** The run and turn in whose place it begins. */
  readonly instead?: { readonly run_id: string; readonly turn_id: string } | undefined
}

/** Files of one run. */
const mostFiles = 100
/** Characters of the id of a sender in the summary of a run. */
const mostActor = 200

const filesOf = ({ output: { parts, artifacts } }: MessageRecord): readonly string[] =>
  [...filesIn(parts), ...artifacts].map(({ id }) => id)

/** What the channel shows to all, then the files of what is answered; those that are gone are left out. */
const givenFiles = (assets: Assets | undefined, channel: ChannelRecord, messages: MessageRecord[]): AttachmentRef[] => {
  const ids = new Set([...(channel.pinned_asset_ids ?? []), ...messages.flatMap(filesOf)])
  const found = [...ids].slice(0, mostFiles).map((id) => assets?.find(id))
  return found.flatMap((asset) => (asset === undefined ? [] : [attachmentOf(asset)]))
}

const originOf = ({ channel, human, origin, turn_id, instead }: Turn): RunOrigin => ({
  channel_id: channel.channel_id,
  thread_root_message_id: origin.root_message_id,
  origin_message_id: origin.message_id,
  human_origin_message_id: human.message_id,
  turn_id,
  addressed_member_ids: [...(human.addressed_member_ids ?? [])],
  ...(instead !== undefined && { superseded_run_id: instead.run_id, superseded_turn_id: instead.turn_id }),
})

const submissionOf = (parts: StartParts, turn: Turn): Submission => {
  const { channel, human, origin, session_id } = turn
  return {
    session_id,
    kind: 'channel_delivery',
    input: {
      content: toldOf(factsFor(parts, turn, turn)),
      source_plugin: 'daemon',
      source_kind: 'channel',
      actor_id: origin.sender.id.slice(0, mostActor),
    },
    origin: originOf(turn),
    targets: 'none',
    preview: origin.output.content,
    files: givenFiles(parts.assets(), channel, [human, origin]),
  }
}

/** What of a run is found out before its commit. */
export type Prepared = Pick<Submission, 'intercepted'>

/** Rejects with the problems of a run that cannot be. */
export const prepareTurn = async (parts: StartParts, turn: Turn): Promise<Prepared> => {
  const { intercepted } = await parts.runs.prepare(submissionOf(parts, turn))
  return intercepted === undefined ? {} : { intercepted }
}

/** Begins the run in a commit. Throws the problems of one that cannot be. */
export const startTurn = (parts: StartParts, tx: Tx, { prepared, ...turn }: Turn & { prepared: Prepared }): RunRecord =>
  parts.runs.admit({ ...submissionOf(parts, turn), ...prepared })(tx)

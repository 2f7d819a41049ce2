/** Where a run is watched from: those of its reply targets that lead to a chat now. */
import type { Sessions } from '../../execution/sessions/contract.js'
import { keepsOutputs, type RunRecord } from '../../execution/runs/contract.js'
import type { LiveChat, LiveKind } from './contract.js'

/** An address, and the kind that serves it. */
export interface Place {
  readonly kind: LiveKind
  readonly address: string
}

/** Names a place among all. */
export const placeKey = ({ kind, address }: Place): string => `${kind.plugin} ${address}`

/** Undefined if it leads nowhere now. */
export const chatOf = ({ kind, address }: Place): LiveChat | undefined => kind.chat(address)

/** Places of one run that are shown how it does: more would be calls that nobody bounded. */
const mostPlaces = 4

/** The places of a run, in the order of its targets; none of one whose outputs stay here. */
export const placesOf = (
  { sessions, kinds }: { readonly sessions: Sessions; readonly kinds: () => readonly LiveKind[] },
  run: RunRecord,
): Place[] => {
  if (keepsOutputs(run)) return []
  const handles = run.reply_targets ?? sessions.find(run.session_id)?.reply_targets ?? []
  const found: Place[] = []
  for (const { plugin, address } of handles) {
    const kind = kinds().find((one) => one.plugin === plugin)
    if (kind === undefined || kind.chat(address) === undefined) continue
    found.push({ kind, address })
    if (found.length === mostPlaces) break
  }
  return found
}

/** The first place of each kind. */
export const firstOfKinds = (places: readonly Place[]): Place[] =>
  places.filter(({ kind }, at) => places.findIndex((other) => other.kind === kind) === at)

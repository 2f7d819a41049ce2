/** What goes to a connection of somebody else's plugin and comes from it: it writes to nothing that others keep. */
import { freezeOnce, unsafeCast } from '../../../../core/plugin.js'

interface Question {
  readonly messages: readonly unknown[]
  readonly tools: readonly unknown[]
  readonly generation: unknown
}

/** Its members are those of later calls, and of other providers; the list itself grows with its conversation. */
const frozenList = <T>(list: readonly T[]): readonly T[] => {
  list.forEach(freezeOnce)
  return Object.freeze([...list])
}

/** The same question, frozen. */
export const frozenRequest = <Q extends Question>(request: Q): Q => {
  freezeOnce(request.generation)
  return Object.freeze({ ...request, messages: frozenList(request.messages), tools: frozenList(request.tools) })
}

/** An event that fits the contract, as it was when it came: what its plugin writes to it later says nothing. */
export const keptEvent = <E extends { readonly type: string }>(event: E): E =>
  'part' in event ? unsafeCast({ type: event.type, part: JSON.parse(JSON.stringify(event.part)) }) : event

/** What goes to a connection of somebody else's plugin and comes from it: neither side can write to what the other keeps. */
import { freezeOnce, unsafeCast } from '../../../../core/plugin.js'
import type { ModelEvent, ModelRequest } from '../contract.js'

const frozenList = <T>(list: readonly T[]): readonly T[] => {
  list.forEach(freezeOnce)
  // The list itself grows with its conversation.
  return Object.freeze([...list])
}

/** The same question, frozen: its messages and tools are those of later calls, and of other providers, too. */
export const frozenRequest = (request: ModelRequest): ModelRequest => {
  freezeOnce(request.generation)
  return Object.freeze({ ...request, messages: frozenList(request.messages), tools: frozenList(request.tools) })
}

/** An event that fits the contract, as it was when it came: what its plugin writes to it later says nothing. */
export const keptEvent = (event: ModelEvent): ModelEvent =>
  event.type === 'part' ? { type: 'part', part: unsafeCast(JSON.parse(JSON.stringify(event.part))) } : event

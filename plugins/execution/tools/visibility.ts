/** Which tools a session sees: all of them, but for those that somebody hides. */
import { isSet } from 'node:util/types'
import {
  answerOf,
  array,
  definePoint,
  fault,
  hasMembers,
  open,
  Problem,
  string,
  withAnswers,
  yesOrNo,
  type Answer,
  type Log,
  type Mind,
  type Point,
} from '../../../core/plugin.js'

/** Where a foreign tool is from. */
export interface ToolOrigin {
  /** The server, as the operator names it. */
  readonly server: string
  /** The tool, as its server names it. */
  readonly tool: string
}

/** True of a tool that is hidden. */
type Hides = (tool: GatedTool) => boolean

/** What a gate knows of a tool. */
export interface GatedTool {
  /** As models see it. */
  readonly name: string
  /** Of a foreign tool alone. */
  readonly origin?: ToolOrigin
}

/** Names, and beginnings with a trailing star; an empty list of those that pass is all. */
export interface NamedTools {
  readonly allowlist: string[]
  readonly denylist: string[]
}

/** Hides tools from sessions: what is hidden is neither shown to a model nor called. */
export interface ToolGate {
  readonly id: string
  /**
   * What is hidden from a session now, or its names, of which a set that is given again must have the same; undefined
   * if nothing is. Must be fast and must not throw: of one that throws, or returns what it must not, every tool counts
   * as hidden.
   */
  hidden(session_id: string): Hides | ReadonlySet<string> | undefined
  /** True if calls of what it hides are told that the tool is turned off, in place of that it is not there. */
  readonly tells?: boolean
  /** What calls of what it alone hides are told, in place of that the tool is not there; undefined for just that. */
  refusal?(name: string): Problem | undefined
  /**
   * What it lets pass now, by names: agents that a run of the session starts see no more either. For gates that know
   * of the run alone, not of the agents that it starts.
   */
  surfaces?(session_id: string): readonly NamedTools[]
}

const isHidden = yesOrNo(true)
const copies = new WeakMap<object, ReadonlySet<string>>()
/** Of one set always the same copy. What is more than a set could say another thing each time, and is none. */
const takenNames = (answer: unknown): ReadonlySet<string> => {
  if (!isSet(answer) || Object.getPrototypeOf(answer) !== Set.prototype || Reflect.ownKeys(answer).length > 0)
    throw fault('what it returned is neither a set of names nor a function')
  const copy = copies.get(answer) ?? new Set([...answer].map(nameIn))
  copies.set(answer, copy)
  return copy
}
const nameIn = (name: unknown): string => {
  if (typeof name === 'string') return name
  throw fault('what it returned is no set of names')
}
/** What a gate hides, as it is taken; of one that fails every tool counts as hidden. */
const taken: Answer<Hides | ReadonlySet<string> | undefined> = {
  take(answer: unknown, mind: Mind) {
    if (answer === undefined || answer === null) return undefined
    if (typeof answer === 'function') return mind(answer, isHidden)
    return takenNames(answer)
  },
  otherwise: () => true,
}
const namedTools = open({ allowlist: array(string()), denylist: array(string()) })
/** Everything that hides tools. */
export const ToolGates: Point<ToolGate> = withAnswers(
  definePoint<ToolGate>('tool-gates@1', (gate) => gate.id, hasMembers('a tool gate', { id: 'id', hidden: 'function' })),
  {
    hidden: taken,
    refusal: {
      take(answer: unknown) {
        if (answer === undefined || answer === null || answer instanceof Problem) return answer ?? undefined
        throw fault('what it returned is no problem')
      },
      otherwise: undefined,
    },
    surfaces: answerOf(array(namedTools), []),
  },
)

/** Brings tools some time after the start, such as when a server is connected. */
export interface ToolArrival {
  readonly id: string
  /**
   * Resolves when a tool of this name has come or will not come soon, without a name those that every run should have;
   * undefined if none is to come. Must not reject.
   */
  awaited(name: string | undefined): Promise<void> | undefined
  /**
   * What runs of a session must have and have not, as a sentence without its full stop: they are refused, and fail
   * instead of going on. Undefined if nothing is missing. Asked for each submission and model call: must be fast and
   * must not throw.
   */
  missing(session_id: string): string | undefined
}
/** Everything that brings tools later. */
export const ToolArrivals: Point<ToolArrival> = withAnswers(
  definePoint<ToolArrival>(
    'tool-arrivals@1',
    (arrival) => arrival.id,
    hasMembers('who brings tools', { id: 'id', awaited: 'function', missing: 'function' }),
  ),
  {
    awaited: { take: () => undefined, otherwise: undefined, awaited: true },
    missing: answerOf(string(), undefined),
  },
)

/** Without a session: all of them. */
export interface ToolView<T> {
  list(session_id?: string): readonly T[]
  find(name: string, session_id?: string): T | undefined
  /** True if the session would not see such a tool, whether it is there or not. */
  hides(tool: GatedTool, session_id: string | undefined): boolean
  /** True if the tool is there and nothing hides it but who tells so. */
  isOff(name: string, session_id: string): boolean
  /** What gates let pass that agents of a run of the session have to keep to as well. */
  surfaces(session_id: string): readonly NamedTools[]
  /** Why the tool cannot be called, in the words of the one gate that hides it. */
  refusal(name: string, session_id: string): Problem | undefined
}

interface ViewParts<T> {
  readonly tools: () => readonly T[]
  readonly gates: () => readonly ToolGate[]
  readonly log: Log
}

const lasting = new WeakMap<ReadonlySet<string>, Hides>()
const lastingOnes = new WeakSet<Hides>()
const isLasting = (hides: Hides): boolean => lastingOnes.has(hides)
/** Of one set of names always the same. */
const hidesOf = (names: ReadonlySet<string>): Hides => {
  const found = lasting.get(names)
  if (found !== undefined) return found
  const hides: Hides = ({ name }) => names.has(name)
  lasting.set(names, hides)
  lastingOnes.add(hides)
  return hides
}

const without = <T extends GatedTool>(tools: readonly T[], hiding: readonly Hides[]): readonly T[] =>
  tools.filter((tool) => !hiding.some((hides) => hides(tool)))

const isSameList = (a: readonly Hides[], b: readonly Hides[]): boolean =>
  a.length === b.length && a.every((one, at) => one === b[at])

export const createToolView = <T extends GatedTool>({ tools, gates, log }: ViewParts<T>): ToolView<T> => {
  let listed: readonly T[] = []
  let names: ReadonlyMap<string, T> = new Map()
  const named = (name: string): T | undefined => {
    if (listed !== tools()) {
      listed = tools()
      names = new Map(listed.map((tool) => [tool.name, tool]))
    }
    return names.get(name)
  }
  let seen: { readonly all: readonly T[]; readonly hiding: readonly Hides[]; readonly list: readonly T[] } | undefined
  /** Asked before every model call, and mostly the same: what names alone hide is gone through once. */
  const lastSeen = (hiding: readonly Hides[]): readonly T[] => {
    const all = tools()
    if (seen?.all !== all || !isSameList(seen.hiding, hiding)) seen = { all, hiding, list: without(all, hiding) }
    return seen.list
  }
  const ask = (gate: ToolGate, session_id: string): Hides | undefined => {
    try {
      const hidden = gate.hidden(session_id)
      return hidden === undefined || typeof hidden === 'function' ? hidden : hidesOf(hidden)
    } catch (error) {
      log.error('a tool gate threw, which its contract forbids', { gate: gate.id, session_id, error })
      return () => true
    }
  }
  const closed = (session_id: string | undefined, among = gates()): Hides[] =>
    session_id === undefined ? [] : among.flatMap((gate) => ask(gate, session_id) ?? [])
  return {
    list(session_id) {
      const hiding = closed(session_id)
      if (hiding.length === 0) return tools()
      return hiding.every(isLasting) ? lastSeen(hiding) : without(tools(), hiding)
    },
    find(name, session_id) {
      const tool = named(name)
      return tool === undefined || closed(session_id).some((hides) => hides(tool)) ? undefined : tool
    },
    hides: (tool, session_id) => closed(session_id).some((hides) => hides(tool)),
    isOff(name, session_id) {
      const tool = named(name)
      if (tool === undefined) return false
      const [telling, silent] = [gates().filter(({ tells }) => tells), gates().filter(({ tells }) => !tells)]
      return (
        closed(session_id, telling).some((hides) => hides(tool)) &&
        !closed(session_id, silent).some((hides) => hides(tool))
      )
    },
    surfaces: (session_id) => gates().flatMap((gate) => gate.surfaces?.(session_id) ?? []),
    refusal(name, session_id) {
      const tool = named(name)
      if (tool === undefined) return undefined
      const hiding = gates().filter((gate) => ask(gate, session_id)?.(tool) === true)
      return hiding.length === 1 ? hiding[0]?.refusal?.(name) : undefined
    },
  }
}

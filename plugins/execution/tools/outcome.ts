/** What a call of a tool comes to, and how it is taken from a plugin that no compiler has checked. */
import {
  array,
  blame,
  boolean,
  checkDone,
  fault,
  integer,
  json,
  jsonObject,
  open,
  optional,
  parse,
  plainCopy,
  Problem,
  rule,
  string,
  tagged,
  taken,
  unsafeCast,
  type AnyStruct,
  type Json,
  type Tx,
} from '../../../core/plugin.js'
import { Asset } from '../../media/assets/contract.js'
import type { ToolUse } from '../../operator/usage/contract.js'

/** One option of a question; its id is given by the questions plugin. */
export interface QuestionOptionDraft {
  readonly label: string
  readonly description?: string
  readonly preview?: string
}
/** One question with two to four options (questions-2). */
export interface QuestionDraft {
  readonly header: string
  readonly question: string
  readonly options: readonly QuestionOptionDraft[]
  readonly multi_select: boolean
}
/** One to four questions that suspend the run. `expires_at_ms` is Unix ms. */
export interface AskDraft {
  readonly questions: readonly QuestionDraft[]
  readonly expires_at_ms?: number
}

/**
 * `result` ends the call. Its `output` is plain JSON, and `null` where there is nothing to say. Its `apply` is part of
 * the commit of the outcome, and must be done when it returns. It must look again at what `run` looked at: a problem
 * that it throws is what the call is told, and nothing has changed then. `ask` suspends the run until a
 * person answers; the answer becomes the result. `unknown`: it may have acted, and nobody can tell. `files`: assets
 * that it gave, as `Assets` has them, at most `mostResultFiles`: its run names them from the commit of the outcome on,
 * and the model is told of them, and shown those that are pictures if it takes such. `used`: the model that it asked,
 * which is booked with its run whatever becomes of the outcome.
 */
export type ToolOutcome =
  | {
      readonly type: 'result'
      readonly output: Json
      readonly is_error?: boolean
      readonly files?: readonly Asset[] | undefined
      readonly apply?: (tx: Tx) => void
      readonly used?: ToolUse | undefined
    }
  | { readonly type: 'ask'; readonly ask: AskDraft }
  | { readonly type: 'unknown'; readonly problem: Problem; readonly used?: ToolUse | undefined }

/** Files of one call. */
export const mostResultFiles = 16

const texts = { header: string(), question: string(), multi_select: boolean() }
const option = open({ label: string(), description: optional(string()), preview: optional(string()) })
const ask = open({
  questions: array(open({ ...texts, options: array(option) }), { min: 1 }),
  expires_at_ms: optional(integer()),
})
const isA = (known: (value: unknown) => boolean, sentence: string) => rule(json(), sentence, known)
const used = optional(open({ route: string(), model: string(), usage: optional(jsonObject()) }))
const outcome: AnyStruct = tagged('type', {
  result: open({
    output: json(),
    apply: optional(isA((value) => typeof value === 'function', 'must be a function')),
    is_error: optional(boolean()),
    used,
  }),
  ask: open({ ask }),
  unknown: open({ problem: isA((value) => value instanceof Problem, 'must be a problem'), used }),
})

const assets = array(Asset)
const assetsOf = (files: unknown): readonly Asset[] => {
  try {
    return taken(assets, files)
  } catch {
    throw fault('its files are no assets, such as Assets.add answers with')
  }
}
const filesOf = (files: unknown): readonly Asset[] => {
  const given = assetsOf(files)
  if (given.length <= mostResultFiles) return given
  throw fault(`it gave ${given.length} files, and one call may give ${mostResultFiles}`)
}

/** Each is asked for once. */
const membersOf = (returned: unknown) => {
  const { type, output, is_error, files, apply, used: use, ask: asks, problem } = unsafeCast<Given>(Object(returned))
  return { type, output, is_error, files, apply, used: use, ask: asks, problem }
}
type Given = Readonly<Record<string, unknown>>

/** A problem is its answer; what else is wrong with it is charged to the plugin of the tool. */
const minded =
  (tool: object, apply: (tx: Tx) => unknown) =>
  (tx: Tx): void => {
    try {
      checkDone(apply(tx))
    } catch (error) {
      throw error instanceof Problem && error.spec.status < 500 ? error : blame(tool, error)
    }
  }

/** An output has at most 64 levels, and the outcome around it is one more. */
const mostLevels = 65

const checked = (tool: object, returned: unknown): ToolOutcome => {
  const { apply, problem, files, ...data } = membersOf(returned)
  const copy = unsafeCast<object>(plainCopy(data, Infinity, mostLevels))
  const parsed = parse(outcome, { ...copy, apply, problem })
  const [issue] = parsed.ok ? [] : parsed.issues
  if (!parsed.ok) throw fault(`what it returned is no outcome of a tool: ${issue?.path || 'it'} ${issue?.rule ?? ''}`)
  const ended = unsafeCast<ToolOutcome>(parsed.value)
  if (ended.type !== 'result') return ended
  return {
    ...ended,
    ...(ended.apply && { apply: minded(tool, ended.apply) }),
    ...(files !== undefined && files !== null && { files: filesOf(files) }),
  }
}

/**
 * The outcome that a tool returned. Throws what is wrong with it, which is charged to the plugin of the tool. That an
 * output is too large is no fault, and looked at later.
 */
export const takenOutcome = (tool: object, returned: unknown): ToolOutcome => {
  try {
    return checked(tool, returned)
  } catch (error) {
    throw blame(tool, error)
  }
}

/** What a tool is, and who decides whether it may run. Rules: docs/rules/tools.md. */
import {
  definePoint,
  defineToken,
  isObjectStruct,
  type AnyStruct,
  type Infer,
  type Json,
  type JsonObject,
  type Point,
  type Problem,
  type Token,
} from '../../../core/plugin.js'
import { foreignToolName } from './foreign-name.js'
import type { PermissionDecision, PermissionMode } from './decision.js'
import type { GrantRule } from './grant-rule.js'
import type { ToolOutcome } from './outcome.js'
import type { NamedTools, ToolOrigin } from './visibility.js'

/** Who hides tools from sessions, where foreign ones are from, and which are still to come. */
export { ToolArrivals, ToolGates } from './visibility.js'
/** As types. */
export type { GatedTool, NamedTools, ToolArrival, ToolGate, ToolOrigin } from './visibility.js'
/** Names of foreign tools as models take them. */
export { foreignToolName } from './foreign-name.js'
/** Who gives modes and rules to sessions. */
export { SessionModes, type SessionMode } from './session-mode.js'
/** What a call comes to, and how it is taken from a plugin that no compiler has checked. */
export { mostResultFiles, takenOutcome } from './outcome.js'
/** As types. */
export type { AskDraft, QuestionDraft, QuestionOptionDraft, ToolOutcome } from './outcome.js'
/** Modes, rules, decisions and the record of a decision. */
export * from './decision.js'
/** What a remembered approval may cover, and who remembers them. */
export * from './grant-rule.js'

/**
 * What a repetition would do: `read` may be repeated; `idempotent` may be repeated under the same key; `once` is never
 * repeated by the daemon: after a crash its outcome is unknown.
 */
export type Effect = 'read' | 'idempotent' | 'once'

/** What a tool may reach, from nothing of its own to the network; `inherited` leaves it to what the tool calls. */
export const sandboxes = ['inherited', 'read_only', 'workspace_write', 'network_enabled'] as const
/** One of `sandboxes`. */
export type Sandbox = (typeof sandboxes)[number]

/** One call of a tool. */
export interface ToolCall {
  readonly tool_call_id: string
  readonly session_id: string
  readonly run_id: string
  /** Stable over restarts: the key for an `idempotent` effect. */
  readonly key: string
  /** True if an earlier life of the daemon began this call, and nobody knows how far it came. */
  readonly is_repeated?: boolean
  /** Absolute path of the folder that tools may work in. */
  readonly workspace: string
  /** Folders beside it that its version control writes to. Absolute paths. */
  readonly beside?: readonly string[]
  /** The folder that it is a part of, if any; neither has links then. */
  readonly within?: string
  /** Aborts on cancel, interrupt, time-out and stop. The tool must end soon after; what it started must be gone. */
  readonly signal: AbortSignal
  /** Tells people who watch how far it is. May be called at any rate: what comes too fast is left out. */
  readonly report?: (progress: ToolProgress) => void
  /**
   * Waits for what other runs do: they may have the place of this one meanwhile, of as many as are executed at a time.
   * Such a call is cut short when the daemon stops, and made again by the next: its effect is `read` or `idempotent`.
   */
  readonly waitFor?: <T>(work: () => Promise<T>) => Promise<T>
}

/** How far a call is, in units of its own. */
export interface ToolProgress {
  readonly progress: number
  readonly total?: number | undefined
  /** What it is doing. */
  readonly message?: string | undefined
}

/** A tool: what the model sees, and what it does. */
export interface Tool<S extends AnyStruct = AnyStruct> {
  /** `[a-z][a-z0-9_]*`, as the model sees it; of a foreign tool what `foreignToolName` makes. */
  readonly name: string
  /** Of a foreign tool: where it is from. */
  readonly origin?: ToolOrigin
  readonly description: string
  readonly input: S
  readonly effect: Effect
  /** May run beside others of the same turn. */
  readonly parallel: boolean
  readonly timeout_ms: number
  readonly sandbox: Sandbox
  /**
   * Whether it may run without asking, when no rule says otherwise: `ask` unless its effect is `read`. Names that the
   * contract has rules for keep these.
   */
  readonly permission?: 'allow' | 'ask'
  /** True: usable while a session plans, because it only looks or talks to people. */
  readonly in_plan_mode?: boolean
  /** True: models do most work without it, so that those with a small window are not told of it (prompt-12). */
  readonly seldom?: boolean
  /**
   * What a remembered approval of such a call covers: this command, path or host, whatever else the input holds. Absent
   * or undefined: exactly this input. Must be fast and must not throw.
   */
  subject?(input: Infer<S>): GrantRule | undefined
  /**
   * Why such a call cannot be made, whoever allows it: it is told to the model, and nobody is asked (tools-59). Looked
   * at again before the call is made. Must be fast and must not throw.
   */
  refusal?(input: Infer<S>, by: Pick<ToolCall, 'session_id' | 'run_id'>): Problem | undefined
  /**
   * For what the model can correct, returns `is_error` or throws a Problem below 500 (tools-35). Any other throw is
   * charged to the plugin and shown to the model as a failed call without its message.
   */
  run(input: Infer<S>, call: ToolCall): Promise<ToolOutcome> | ToolOutcome
}

/**
 * What a model reads of a call that failed: the problem's code, sentence and action, and what else there is to know.
 * The one form of every failure.
 */
export const callFailure = ({ code, message, action }: Problem, more: JsonObject = {}): JsonObject => ({
  error: { code, message, ...(action !== undefined && { action }), ...more },
})

/** Places in the input of the call; those of a request say nothing to a model. */
const issuesOf = ({ occurrence: { errors = [] } }: Problem): JsonObject => {
  const issues = errors.filter(({ path }) => !/^(body|query|path|header)\./u.test(path))
  return issues.length === 0 ? {} : { issues: issues.map(({ path, rule }) => ({ path, rule })) }
}

/** The outcome that tells a model what it can correct: the problem's code, sentence and action, and where it is. */
export const failedCall = (problem: Problem): ToolOutcome => ({
  type: 'result',
  is_error: true,
  output: callFailure(problem, issuesOf(problem)),
})

/** Checks a tool's types and returns it. */
export const defineTool = <S extends AnyStruct>(tool: Tool<S>): Tool => tool
const effects: ReadonlySet<unknown> = new Set<Effect>(['read', 'idempotent', 'once'])

const nameRule = 'must be of small letters, digits and underscores alone, 64 at most, and begin with a letter'

/** What is wrong with a tool, in a plugin that no compiler has checked; a provider would refuse each run for it. */
const toolFault = (tool: Tool): string | undefined => {
  if (typeof tool !== 'object' || tool === null) return 'a tool must be an object'
  if (tool.origin !== undefined && tool.name !== foreignToolName(tool.origin))
    return `the name ${JSON.stringify(tool.name)} of a foreign tool must be that of its origin`
  if (tool.origin === undefined && (typeof tool.name !== 'string' || !/^[a-z][a-z0-9_]{0,63}$/u.test(tool.name)))
    return `the name ${JSON.stringify(tool.name)} of a tool ${nameRule}`
  const fault = (rule: string): string => `the tool ${tool.name} must have ${rule}`
  if (typeof tool.description !== 'string' || tool.description.trim() === '') return fault('a description')
  if (!effects.has(tool.effect)) return fault('the effect read, idempotent or once')
  if (!isObjectStruct(tool.input)) return fault('an object struct as input')
  if (typeof tool.run !== 'function') return fault('a function run')
  if (typeof tool.parallel !== 'boolean') return fault('true or false as parallel')
  if (!Number.isSafeInteger(tool.timeout_ms) || tool.timeout_ms < 1)
    return fault('a whole number above 0 as timeout_ms')
  if (!sandboxes.includes(tool.sandbox)) return fault(`one of ${sandboxes.join(', ')} as sandbox`)
  if (![undefined, 'allow', 'ask'].includes(tool.permission)) return fault('allow or ask as permission, or none')
  return undefined
}

/** Every tool of the daemon, by name. */
export const Tools: Point<Tool> = definePoint<Tool>('tools@1', (tool) => tool.name, toolFault)

/** What a decision depends on. */
export interface PermissionQuestion {
  readonly tool_name: string
  /** What the tool would be called with: remembered approvals are looked at only where it is given. */
  readonly input?: Json | undefined
  /** Whose mode and rules count before those of the daemon. */
  readonly session_id?: string | undefined
  /** Stands in place of the mode that would hold. */
  readonly mode?: PermissionMode | undefined
  /** What a run keeps; what is in force when absent. */
  readonly pins?: ToolPins | undefined
}

/** What of the settings a run keeps for its whole life: its daemon mode, and limits that an operator set. */
export type ToolPins = {
  readonly permission_mode: PermissionMode
  /** What the configuration says when absent. */
  readonly limits?: ToolLimits
}

/**
 * The search of the web that servers of models have (models-53). What is said of a tool of this name holds for it too,
 * whether such a tool is there or not.
 */
export const nativeWebSearch = { name: 'web_search', sandbox: 'network_enabled' } as const

/** What the engine asks of the registered tools. */
export interface ToolRegistry {
  /** Those that a session sees; all if none is named. */
  list(session_id?: string): readonly Tool[]
  /** A tool by the name that models call; undefined also if a session is named and does not see it. */
  find(name: string, session_id?: string): Tool | undefined
  /** True if the session would see the tool, and has it turned off. */
  isOff(name: string, session_id: string): boolean
  /** Lists of tools that agents keep to which a run of the session starts: all of them. */
  surfaces(session_id: string): readonly NamedTools[]
  /** Why the session does not see a tool that is there, where the one gate that hides it says so. */
  refusal(name: string, session_id: string): Problem | undefined
  /** Resolves when a tool may have come, or those that every run should have; undefined if none is to come. */
  arrival(name?: string): Promise<void> | undefined
  /** What runs of a session must have and have not, as a sentence without its full stop. */
  missing(session_id: string): string | undefined
  decide(question: PermissionQuestion): PermissionDecision
  /**
   * True if nobody hides a tool like this from the session, and its calls pass without asking: of one that somebody
   * else has, too, such as the server of a model.
   */
  passes(tool: Pick<Tool, 'name' | 'sandbox'>, of: Pick<PermissionQuestion, 'session_id' | 'pins'>): boolean
  /** In force for who asks now; what a run keeps is in its pins. */
  readonly permission_mode: PermissionMode
  readonly workspace: string
  /** Those of these pins; those in force when absent. */
  limits(pins?: ToolPins): ToolLimits
  /** What a run that is accepted now keeps. */
  pin(): ToolPins
}
export const ToolRegistry: Token<ToolRegistry> = defineToken<ToolRegistry>('tools@1')

/** Limits of tool calls, bytes and milliseconds (tools-18). */
export interface ToolLimits {
  readonly max_input_bytes: number
  readonly max_output_bytes: number
  readonly max_result_envelope_bytes: number
  readonly max_timeout_ms: number
  readonly max_parallel_tools: number
  readonly max_calls_per_turn: number
  readonly max_cumulative_output_bytes: number
  readonly max_cumulative_result_envelope_bytes: number
  readonly max_sandbox: Sandbox
}

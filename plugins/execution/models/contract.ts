/**
 * The contract between the engine and every model provider. Rules: docs/rules/models.md.
 */
import {
  definePoint,
  defineToken,
  withAnswers,
  type Json,
  type JsonObject,
  type JsonSchema,
  type Point,
  type Token,
} from '../../../core/plugin.js'
import type { AttachmentRef } from '../../media/assets/contract.js'
import type { ModelFamily } from './family.js'
import type { RouteCapabilities } from './abilities/capabilities.js'
import type { OwnModels } from './abilities/backends.js'
import type { ContextWindow } from './bounds/context-window.js'
import { providerAnswers } from './bounds/provider-answers.js'
import type { GenerationFeature } from './abilities/generation-features.js'
import type { Generation } from './generation.js'
import type { ModelFailure } from './bounds/failure.js'
import type { PaceView, RateLimit, RouteEvent } from './bounds/rate-limit.js'
import type { Readiness } from './bounds/taken-readiness.js'
import type { Usage } from './bounds/usage.js'
import type { SearchPart, WebPage } from './abilities/web-search.js'
import { providerFault } from './bounds/provider-shape.js'
import type { VendorOptions } from './abilities/vendor-options.js'

/** How much one call of a model may have. */
export type { ContextWindow } from './bounds/context-window.js'
/** What models of a provider are called. */
export type { ModelFamily } from './family.js'
/** Whether a route can be used. */
export type { Readiness } from './bounds/taken-readiness.js'
/** Why a model call failed, by what can be done about it. */
export { failureClasses, type FailureClass } from './bounds/failure-class.js'
/** The longest wait that a server may ask for, milliseconds; what servers say of limits, and what is known of it. */
export { longestHintMs, type PaceView, type RateLimit, type RouteEvent } from './bounds/rate-limit.js'
/** A failed model call. */
export type { ModelFailure } from './bounds/failure.js'
/** Tokens of one call, and how many it may have at most. */
export { mostCounted, TakenUsage, type Usage } from './bounds/usage.js'
/** What of a route only some providers understand. */
export type { VendorOptions } from './abilities/vendor-options.js'
/** Searches that servers of models make. */
export type { SearchPart, WebPage } from './abilities/web-search.js'
/** What models can. */
export { routeCapabilityFields, textAndImages, textOnly } from './abilities/capabilities.js'
/** As flags of a route. */
export type { RouteCapabilities } from './abilities/capabilities.js'
/** Who does for routes what their models do not, and values of it. */
export { RouteBackends, type OptIn, type OwnModels, type RouteBackend } from './abilities/backends.js'
/** How a model is to answer. */
export { checkGeneration, GenerationSettings } from './generation.js'
/** What of it not every provider can pass on. */
export { generationFeatures, type GenerationFeature } from './abilities/generation-features.js'
/** Values of it. */
export type { Generation, ReasoningSettings, ResponseFormat, ToolChoice } from './generation.js'

/** What a provider gave beside a part, kept verbatim and sent back with it: signatures, ids. */
export type ProviderMetadata = JsonObject

/**
 * Visible text. In a conversation one with a `file` mentions it in a line: before a provider is asked, the words in the
 * file take its place, or the line names the `image` behind it, where the route takes such (`multimodal_input`).
 */
export type TextPart = {
  type: 'text'
  text: string
  metadata?: ProviderMetadata
  file?: AttachmentRef
  image?: ModelImage
  /** Pages that a model names as where it has this from. */
  cites?: WebPage[]
  /** Of a user: true for what the daemon adds to what was said, the words of a file or what a hook tells. */
  added?: true
}
/** A picture: `image/png` or `image/jpeg`, its bytes in base64. */
export type ModelImage = { media_type: string; base64: string }
/** What the model thought, where its provider shows it; sent back verbatim. */
export type ReasoningPart = { type: 'reasoning'; text: string; metadata?: ProviderMetadata }
/**
 * `input` is parsed JSON. Where what the model gave does not parse, `unparsed` is its text and `input` is `{}`: the
 * model is told so, and the call is never made.
 */
export type ToolCallPart = {
  type: 'tool_call'
  id: string
  name: string
  input: Json
  unparsed?: string
  metadata?: ProviderMetadata
}
/** The answer to one tool call of the turn before. */
export type ToolResultPart = {
  type: 'tool_result'
  tool_call_id: string
  name: string
  output: Json
  is_error: boolean
}
/** What an assistant message is made of. */
export type AssistantPart = TextPart | ReasoningPart | SearchPart | ToolCallPart

/** One message of the conversation, oldest first. */
export type ModelMessage =
  | {
      role: 'user'
      content: TextPart[]
      /** True for what the daemon tells beside the results of calls, such as files that they gave: nobody said it. */
      beside_results?: true
    }
  | { role: 'assistant'; content: AssistantPart[] }
  | { role: 'tool'; content: ToolResultPart[] }

/** A tool as a model sees it. */
export interface ModelTool {
  readonly name: string
  readonly description: string
  readonly parameters: JsonSchema
}

/** One question to a model. Must not be written to: a provider of others gets it frozen. */
export interface ModelRequest {
  readonly model: string
  readonly system: string
  /**
   * Every tool call in it has its result: the engine never sends an unpaired one. The array of an earlier call may come
   * again with more at its end.
   */
  readonly messages: readonly ModelMessage[]
  readonly tools: readonly ModelTool[]
  /** The server of the model may search the web while it answers. Of routes with `native_web_search` alone. */
  readonly web_search?: true
  readonly generation: Generation
}

/**
 * What `stream` yields, in order: of a route first what it waits for before it asks; deltas of text and of thoughts as
 * they come (for people who watch; neighbours of one kind may be joined, none is held back for that),
 * whole parts when they are complete, and exactly one `done`, last. Parts before a failed `done` are discarded by the
 * engine: nothing acts on them. An answer that was cut at its length ends with `length`, also when it has calls: none
 * of them is made. `stop` may have calls, as servers have it; `tool_calls` has some. `paused`: it has no calls, and its
 * server wants to be asked again with it to go on. `other`: it has no calls, and the provider does not know the reason
 * that its server gave. An event that is none of these, or has a member of another type, or an answer that is otherwise
 * than its `done` says, fails the call as `provider_fault`, and nothing is asked for again.
 */
export type ModelEvent =
  | RouteEvent
  | { type: 'text_delta'; text: string }
  | { type: 'reasoning_delta'; text: string }
  | { type: 'part'; part: AssistantPart }
  | { type: 'done'; outcome: 'stop' | 'tool_calls' | 'length' | 'paused' | 'other'; usage: Usage }
  | { type: 'done'; outcome: 'failed'; failure: ModelFailure; usage?: Usage }

/** One usable connection to a provider. */
export interface ModelConnection {
  /**
   * Asks the model once. Must not throw and must not retry. Must end with exactly one `done`, within ten seconds after
   * an abort (then `failed` with class `aborted`), and must have closed its socket by then. Yields at most a million
   * events, and one within the idle limit: an empty `text_delta` where its server is at work and nothing is to be told.
   * A stream that is silent for longer has failed, and is told to end by its signal.
   */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>
  /**
   * At once and without I/O: asked all the time. Where it throws or answers something else, the route is in error. Its
   * words are told as one line each, 1,000 characters at most, without secrets.
   */
  readiness(): Readiness
}

/** How to reach a provider. */
export interface ConnectionOptions {
  readonly base_url?: string
  readonly api_key?: string
  /** Of those that the provider names. */
  readonly vendor?: VendorOptions
  /** Longest silence of the provider, milliseconds. */
  readonly idle_timeout_ms: number
  /** Is to be told what the server says of its limits, as soon as it says so; may be called twice for a call. */
  readonly tellLimits?: (model: string, limits: readonly RateLimit[]) => void
}

/** A server that people run themselves. */
export interface LocalServer {
  /** Its route is called so. */
  readonly route_id: string
  readonly name: string
  readonly base_url: string
}

/** A family of models reached in one way; one page each in `plugins/providers/`. */
export interface ModelProvider {
  /** Wire name, such as `demo` or `openai_compatible`. */
  readonly id: string
  readonly summary: string
  /** Used when the route names no model; absent if one must be named. */
  readonly default_model?: string
  readonly capabilities: RouteCapabilities
  /** What its models are shown: the conversation of the session, unless this says that it is the run alone. */
  readonly context?: 'run'
  /** Settings beyond the common ones that it passes on; a run that sets another is refused. */
  readonly generation?: readonly GenerationFeature[]
  /** What its models are called; absent where anything goes. */
  readonly family?: ModelFamily
  /** Whether its server searches the web for a model beside tools (models-56); for each where absent. */
  readonly searches?: (model: string) => boolean
  /** What it knows of its models; undefined for one that it does not know (prompt-3). */
  readonly context_window?: (model: string) => ContextWindow | undefined
  /** Whose stored secrets are its keys, beside generic ones: none when absent. The key of somebody else is not sent. */
  readonly secrets_of?: readonly string[]
  /** Variables in which people keep its key, the usual one first; `holdfast init` looks there. */
  readonly key_variables?: readonly string[]
  /** What of a route it alone understands; a route that says something else is in error. */
  readonly vendor_options?: readonly (keyof VendorOptions)[]
  /** Servers of its protocol that people run themselves, where they usually are; `holdfast init` looks there. */
  readonly local_servers?: readonly LocalServer[]
  /** Must do no I/O. Throws a Problem for options that cannot work. */
  connect(options: ConnectionOptions): ModelConnection
}
/** Every provider of the daemon, by wire name. */
export const ModelProviders: Point<ModelProvider> = withAnswers(
  definePoint<ModelProvider>('model-providers@1', (provider) => provider.id, providerFault),
  providerAnswers,
)

/** A named, configured way to a model: what a run pins when it starts (models-9). */
export interface ModelRoute extends Pick<ModelProvider, 'context' | 'generation' | 'searches'> {
  readonly route_id: string
  readonly provider: string
  readonly model: string
  readonly auth_ref?: string
  readonly capabilities: RouteCapabilities
  /** What its models must be called; absent where anything goes. */
  readonly family?: ModelFamily
  /** How much one call of a model may have; a route that tells none has no bound (prompt-3). */
  readonly context_window?: (model: string) => ContextWindow
  readonly connection: ModelConnection
  /** Models of its other capabilities, as far as it names some. */
  readonly own_models?: OwnModels
  /**
   * How back ends reach its server, with the key of now. Throws `route_not_ready`. Absent if it can be asked for
   * nothing. No provider has an address in it that the route does not give: its back end knows where it is.
   */
  readonly reach?: () => ConnectionOptions
  /** What its server says of its limits, and what is held back for that; absent if it can be asked for nothing. */
  readonly pace?: () => PaceView
}

/** The configured model routes. */
export interface Models {
  /** How the file of routes is called: `config/routes.toml`, or the path of that which is read in its place. */
  readonly file: string
  /** Of runs without a wish of their own; operators change it. */
  readonly default_route: string
  list(): readonly ModelRoute[]
  /** The route of this id; undefined if the daemon no longer has it. */
  find(route_id: string): ModelRoute | undefined
  /**
   * The route of this id or the default. Throws `bad_request` if there is none, or `route_not_ready` (400, domain
   * `routes`) if its readiness is `error`.
   */
  ready(route_id?: string): ModelRoute
}
export const Models: Token<Models> = defineToken<Models>('models@1')

/** Answers that are JSON of a form, of runs and outside of them: their check, and what a model is told. */
export { formText, jsonIn, mostRepairs, repairText, structuredAnswer, unfitCode } from './abilities/structured.js'
/** What the check says. */
export type { Structured } from './abilities/structured.js'
/** Text that plugins add to what models are told first. */
export { SystemSections } from './system-section.js'
/** One such text, and the run that it is for. */
export type { SystemSection, SystemSubject } from './system-section.js'
/** The problems of `Models.ready`, for the `problems` of routes that call it (models-10). */
export { modelErrors } from './errors.js'
/** The problem of a wish for a route that is not there: it names those that are. */
export { unknownRoute } from './errors.js'

/**
 * The contract a plugin author reads. A plugin is a value: it says what it
 * needs and provides, declares everything in `register`, and works from
 * `onStart` on. See docs/plugin-guide.md.
 */
import type { Clock } from './base/clock.js'
import type { Events } from './events/contract.js'
import type { Ids } from './base/ids.js'
import type { Log } from './base/log.js'
import type { Route } from './http/route.js'
import type { HealthCheck } from './base/health.js'
import type { AnyStruct, Infer } from './base/schema.js'
import type { Secrets } from './base/secrets.js'
import type { State } from './state/contract.js'
import type { Command } from './cli/command.js'
import type { Point, Token } from './base/token.js'

export * from './base/schema.js'
export { defineErrors, Problem } from './base/errors.js'
export { readSecretFile } from './state/side/secret-file.js'
export type { ProblemFactory, ProblemSpec, Occurrence } from './base/errors.js'
export { assert, assertNever, fault } from './base/assert.js'
export { committed, defineRoute, jsonReply, textReply, streamReply } from './http/route.js'
export type { Route, RouteInput, Access, Caller, Committed, StreamReply } from './http/route.js'
export {
  clampLimit,
  latest,
  pageFields,
  pageOf,
  listPage,
  collectionSource,
  arraySource,
  pageProblems,
} from './http/pages.js'
export type { ListReply, Page, PageInput, PageRequest, PageSource } from './http/pages.js'
export { idempotencyKey, IdempotencyKey } from './http/idempotency.js'
export { idempotencyErrors } from './http/errors.js'
export { canonical, digest } from './base/canonical-json.js'
export { sliced } from './http/sliced.js'
export type { Sliced } from './http/sliced.js'
export { createUnreadable, viewsOf } from './http/unreadable.js'
export type { Skip, Unreadable } from './http/unreadable.js'
export { defineEvent } from './events/contract.js'
export type { EventSpec, EventKeys, EventFilter, PublishedEvent, Events } from './events/contract.js'
export { StateFinding } from './records/findings.js'
export type { Clock } from './base/clock.js'
export type { Ids } from './base/ids.js'
export type { Log } from './base/log.js'
export type { Secrets } from './base/secrets.js'
export { anyOf } from './base/pattern.js'
export { visibleBlock, visibleLine } from './base/visible.js'
export { isSecretName, looksSecret, redactPii, redactingPii, redactSecrets, redactingSecrets } from './base/redact.js'
export { isShallow } from './base/nesting.js'
export { createPause, inTurns, type Portions } from './base/turns.js'
export { timeKey } from './base/time-key.js'
export type {
  State,
  Tx,
  Collection,
  CollectionSpec,
  IndexSpec,
  Stream,
  StreamSpec,
  StreamEntry,
  Document,
  Blobs,
  BlobRef,
  Spool,
  Spools,
  SpoolAccount,
  SpoolReading,
  PageQuery,
  StorageHealth,
} from './state/contract.js'
export { environment } from './base/config.js'
export { defineCommand } from './cli/command.js'
export type { Command, CommandInput, Client } from './cli/command.js'
export { commandLine, count, span } from './cli/command-text.js'
export { errors as commandErrors } from './cli/errors.js'
export { defineToken, definePoint, hasMembers } from './base/token.js'
export type { Token, Point } from './base/token.js'
export { Host } from './host/contract.js'
export type {
  HostView,
  PluginReport,
  PluginFault,
  BootReport,
  BootStep,
  LockReport,
  ControlPlaneReport,
  TokenFileReport,
} from './host/contract.js'
export type { HealthCheck, Warning } from './base/health.js'
export { createOutbound, outboundTarget, refusedUrl } from './http/outbound.js'
export type {
  Outbound,
  OutboundAnswer,
  OutboundOptions,
  OutboundReach,
  OutboundRequest,
  Resolve,
  ResolvedAddress,
} from './http/outbound.js'
export { outboundCodes } from './http/outbound-failure.js'
export type { OutboundCode } from './http/outbound-failure.js'
export { isCidr } from './http/address-rules.js'

type Tokens = Readonly<Record<string, Token<any>>>
type Needed<N extends Tokens> = { readonly [K in keyof N]: N[K] extends Token<infer T> ? T : never }
type Wanted<W extends Tokens> = { readonly [K in keyof W]: W[K] extends Token<infer T> ? () => T | undefined : never }

/**
 * Checks one invariant of the plugin's state at every start; `fix` must be idempotent: run twice, the second check
 * finds nothing.
 */
export interface RepairStep<F = unknown> {
  readonly id: string
  /** Ids of steps that must have run before. */
  readonly after?: readonly string[]
  readonly check: () => readonly F[]
  /** Repairs through ordinary commits. May be called again after a crash in its middle. */
  readonly fix: (findings: readonly F[]) => Promise<void>
}

/** What a plugin is given: everything that it adds or takes goes through it and is undone with the plugin. */
export interface PluginContext<C> {
  readonly id: string
  /** The plugin's parsed configuration, frozen. */
  readonly config: C
  readonly log: Log
  readonly clock: Clock
  readonly ids: Ids
  readonly secrets: Secrets
  /** Aborts when the daemon stops or the plugin is unloaded. */
  readonly signal: AbortSignal
  readonly state: State
  readonly events: Events
  /** Adds routes; a method and path that is taken is refused. */
  routes(...routes: readonly Route[]): void
  /** Provides a service under a token listed in `provides`. */
  provide<T>(token: Token<T>, service: T): void
  /** Adds values to a point. */
  contribute<T>(point: Point<T>, ...values: readonly T[]): void
  /** The current contributions of a point, in load order: call it when you need them, not in `register`. */
  view<T>(point: Point<T>): () => readonly T[]
  repair<F>(step: RepairStep<F>): void
  health(check: HealthCheck): void
  /**
   * Runs after every plugin registered and repair is done, in load order, before the daemon listens. May return an
   * undo.
   */
  onStart(run: () => void | (() => void | Promise<void>) | Promise<void | (() => void | Promise<void>)>): void
  /** Undone in reverse order when the plugin goes. */
  own(undo: () => void | Promise<void>): void
}

/** A plugin: a value that says what it needs, provides and adds. */
export interface Plugin<N extends Tokens = Tokens, W extends Tokens = Tokens, S extends AnyStruct = AnyStruct> {
  /** Kebab-case, unique. */
  readonly id: string
  readonly version: string
  /** Version of this contract. */
  readonly api: 1
  readonly summary: string
  readonly needs?: N
  readonly wants?: W
  readonly provides?: readonly Token<any>[]
  /** An `object(…)` struct with a default for every field. */
  readonly config?: S
  /**
   * Flags of `serve` by config field: `{ base_url: 'provider-base-url' }` is `--provider-base-url` and
   * `SERVICE_PROVIDER_BASE_URL`. Text is read by the field's type: numbers, `true` and `false`, lists separated by
   * commas. The value of a flag named like a secret (`…-key`, `…-token`, `…-password`) is redacted in logs.
   */
  readonly flags?: Readonly<Record<string, string>>
  /** Sub-commands of the command line; they talk to a daemon over HTTP and need no state. */
  readonly commands?: readonly Command[]
  /**
   * Most milliseconds that its stop waits on purpose, such as for work under way. The host adds ten seconds; a stop
   * that takes longer is cut off, and then the stop of the daemon is not called clean.
   */
  readonly stopMs?: (config: Infer<S>) => number
  /** Declares. Must do no I/O, set no timer and call no service. */
  register(ctx: PluginContext<Infer<S>>, services: Needed<N> & Wanted<W>): void
}

/** Checks a plugin's types and returns it. */
export const definePlugin = <N extends Tokens = {}, W extends Tokens = {}, S extends AnyStruct = AnyStruct>(
  plugin: Plugin<N, W, S>,
): Plugin<N, W, S> => plugin

/** What a plugin without a runtime import of ours receives when its default export is a function: this module. */
export type Kit = typeof import('./plugin.js')
/** A plugin of any type parameters. */
export type AnyPlugin = Plugin<any, any, any>
/** What a plugin's main file exports. */
export type PluginModule = { readonly default: AnyPlugin | ((kit: Kit) => AnyPlugin) }

/** One line of `plugins/index.ts`. */
export interface ShippedPlugin {
  /** The plugin's id, which is also its folder's name. */
  readonly id: string
  /** True: if it fails, the daemon does not start. */
  readonly required: boolean
  /** Imports the plugin's main file. */
  readonly load: () => Promise<PluginModule>
}

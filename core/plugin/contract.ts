/** A plugin as the host knows it: what it is, what it is given, and what its main file exports. */
import type { Clock } from '../base/clock.js'
import type { HealthCheck } from '../base/health.js'
import type { Ids } from '../base/ids.js'
import type { Log } from '../base/text/log.js'
import type { AnyStruct, Infer } from '../base/schema.js'
import type { Secrets } from '../base/text/secrets.js'
import type { Point, Token } from '../base/token.js'
import type { Events } from '../events/contract.js'
import type { List, ListSpec } from './list.js'
import type { Observers } from './observers.js'
import type { Route } from '../http/routes/route.js'
import type { State } from '../state/contract.js'
import type { Command } from './command.js'

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
  /**
   * Repairs through ordinary commits. May be called again after a crash in its middle. That of a third-party plugin has
   * ten seconds: what takes longer is begun in `onStart`.
   */
  fix(findings: readonly F[]): Promise<void>
  /** True for what an orderly stop leaves by intention: it is fixed and logged, and asks nobody to acknowledge it. */
  isExpected?(finding: F): boolean
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
  /** Adds a route for each contribution of a point, as long as the contribution is there. */
  routesOf<T>(point: Point<T>, make: (value: T) => Route): void
  /** Provides a service under a token listed in `provides`. */
  provide<T>(token: Token<T>, service: T): void
  /**
   * Adds values to a point, all or none of them, at any time. What it returns takes these back, again all at once; the
   * end of the plugin does it for those that are left. Many values in one call cost as much as one.
   */
  contribute<T>(point: Point<T>, ...values: readonly T[]): () => void
  /** The current contributions of a point, in load order: call it when you need them, not in `register`. */
  view<T>(point: Point<T>): () => readonly T[]
  /** The contributions of a point that are told what happens, and hold up nobody whatever they do. */
  observers<T>(point: Point<T>): Observers<T>
  /**
   * The entries of a list that operators keep in `config/<file>.toml`; a change of the file is applied at once, entry
   * by entry. Only in `register`.
   */
  list<T, B>(spec: ListSpec<T, B>): List<T, B>
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
  /** True if `config/<id>.toml` is the file of a list of this plugin, and so none of its configuration. */
  readonly fileIsList?: true
  /** The list that `register` opens in which a start may leave nothing out: of shipped plugins it is checked first. */
  readonly vitalList?: (config: Infer<S>) => ListSpec<any, any>
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

/** A plugin of any type parameters. */
export type AnyPlugin = Plugin<any, any, any>
/** The kit as the host passes it on: `core/plugin.ts`, which the host itself does not know. */
export type AnyKit = object
/** Makes a plugin of the kit. A method, so that what names the kit exactly fits. */
type MakePlugin = { make(kit: AnyKit): AnyPlugin }['make']
/** What the main file of a plugin exports: the plugin, or a function that makes it of the kit. */
export type AnyPluginModule = { readonly default: AnyPlugin | MakePlugin }

/** One line of `plugins/index.ts`. */
export interface ShippedPlugin {
  /** The plugin's id, which is also its folder's name. */
  readonly id: string
  /** True: if it fails, the daemon does not start. */
  readonly required: boolean
  /** Imports the plugin's main file. */
  readonly load: () => Promise<AnyPluginModule>
  /** Its sub-commands of the command line, which need nothing else of it. */
  readonly commands?: {
    /** What they begin with: a command line imports only those of its first word. */
    readonly words: readonly string[]
    readonly load: () => Promise<{ readonly commands: readonly Command[] }>
  }
}

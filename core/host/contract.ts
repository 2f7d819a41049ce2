/** What the host tells about itself, the plugins and the daemon: read by `/v1/status`, `plugins list` and the tests. */
import { defineToken, type Point, type Token } from '../base/token.js'
import type { Warning } from '../base/health.js'
import type { BusStatistics } from '../events/bus.js'
import type { Metric } from '../metrics/contract.js'
import type { ListChange } from '../plugin/list.js'
import type { StateFinding } from '../records/findings.js'
import type { RetentionReport } from '../retention/report.js'
import type { StorageUsage } from '../retention/usage.js'

/** Something that a plugin did wrong, kept for the operator. */
export type PluginFault = {
  /** Unix ms. */
  readonly at_ms: number
  /** What was running, such as `listener run_updated` or `route sessions.create`. */
  readonly where: string
  /** One sentence, cut to 300 characters, with known secrets redacted. */
  readonly message: string
}

/** How one plugin is. */
export type PluginReport = {
  readonly id: string
  readonly version: string
  readonly summary: string
  /** `shipped`, or what the configuration names: `state:<folder>` or `npm:<package>`. */
  readonly from: string
  readonly required: boolean
  /**
   * `degraded` works but a fault was charged to it; `failed` did not come up; `skipped` was never tried, because of
   * another plugin or the configuration.
   */
  readonly state: 'loading' | 'registered' | 'ready' | 'degraded' | 'failed' | 'skipped' | 'stopped'
  /** Why it is failed or skipped, one sentence. */
  readonly reason?: string
  /** Faults charged to it since the start. */
  readonly fault_count: number
  readonly last_fault?: PluginFault
  /** Milliseconds spent importing, registering and starting it. */
  readonly load_ms: number
  readonly register_ms: number
  readonly start_ms: number
}

/** One step of the start. */
export type BootStep = {
  /** Such as `lock`, `open`, `plugins`, `recover`, `repair`, `start`, `listen`. */
  readonly step: string
  readonly ms: number
  /** What it found, such as the number of repaired records. */
  readonly details?: Readonly<Record<string, string | number | boolean>>
}

/** What this start did, step by step. */
export type BootReport = {
  /** Unix ms. */
  readonly started_at_ms: number
  /** Milliseconds from the start to the first accepted request; 0 until then. */
  readonly total_ms: number
  /** True if third-party plugins were left out (`serve --safe`). */
  readonly safe: boolean
  readonly steps: readonly BootStep[]
}

/** Who holds the state root (state-1). */
export interface LockReport {
  readonly path: string
  readonly held: boolean
  readonly mechanism: string
  readonly generation: number
}

/** A token file as it is now; never its content. */
export type TokenFileReport = {
  readonly role: 'admin' | 'read_only'
  readonly path: string
  readonly readable: boolean
  readonly token_loaded: boolean
  readonly error?: string
}

/** The `control_plane` member of `/v1/status` (http-23 and http-30). */
export type ControlPlaneReport = {
  readonly base_url: string
  readonly bind_addr?: string
  readonly bind_is_loopback: boolean
  readonly bind_is_unspecified: boolean
  readonly auth_enabled: boolean
  readonly read_only_token_enabled: boolean
  readonly auth_effective_admin_token_available: boolean
  readonly auth_effective_read_only_token_available: boolean
  readonly auth_token_file_count: number
  readonly auth_token_file_error_count: number
  readonly auth_duplicate_token: boolean
  readonly auth_token_files?: readonly TokenFileReport[]
  readonly cors_policy: 'loopback' | 'exact'
  readonly cors_allowed_origin_count: number
  readonly externally_exposed_without_auth: boolean
}

/** What is required and not ready. */
export interface Unready {
  /** Its name, as a sentence begins with it: `The server files`. */
  readonly what: string
  /** Words that end the sentence, without secrets; undefined if it only needs time. */
  readonly why?: string | undefined
}

/** The daemon as its host sees it. Every method but `usage` is fast, does no I/O and does not throw. */
export interface HostView {
  /** Version of the daemon. */
  readonly version: string
  readonly processId: number
  /** Unix ms. */
  readonly startedAtMs: number
  /** Absolute path. */
  readonly stateRoot: string
  /** Absolute path: where sessions work unless they say otherwise. */
  readonly workspaceRoot: string
  /** `ready` between the first accepted request and the begin of a drain. */
  phase(): 'starting' | 'ready' | 'draining'
  /**
   * Aborts when the daemon begins to stop, before requests in flight are waited for and before any plugin stops, with
   * the problem `daemon_draining` as its reason: `leaving.throwIfAborted()` behind a long wait tells its caller.
   */
  readonly leaving: AbortSignal
  /** Every plugin of the shipped list and the configuration, in load order. */
  plugins(): readonly PluginReport[]
  boot(): BootReport
  /**
   * What the health checks of core and all plugins say now. A check that throws is charged to its plugin and becomes a
   * warning.
   */
  warnings(): readonly Warning[]
  /**
   * Begins what acts by itself, such as runs, schedules and deliveries: when all plugins have started, or when an
   * operator releases a daemon that holds. Returns its undo, which is called when the stop of the daemon begins, before
   * any plugin stops: what acts may use what plugins have until it has ended.
   */
  whenActing(begin: () => () => void | Promise<void>): () => void | Promise<void>
  /**
   * Keeps `/readyz` from saying that the daemon is ready for as long as `what` names something that is required and not
   * ready. `what` must be fast and must not throw. Returns its undo.
   */
  delayReady(what: () => Unready | undefined): () => void
  /**
   * Calls back with what a saved file of a list changed, once it is in force; not with what a start reads. Returns its
   * undo.
   */
  onListApplied(listener: (change: ListChange) => void): () => void
  /** The plugin whose contribution to a point has this key; undefined if there is none. */
  contributor<T>(point: Point<T>, key: string): string | undefined
  lock(): LockReport
  controlPlane(): ControlPlaneReport
  /** What starts and repairs found and nobody has acknowledged: the `findings` member of `/v1/status`. */
  findings(): readonly StateFinding[]
  /** The `storage.usage` member of `/v1/status`; counts the files of the root if the last count is seconds old. */
  usage(): Promise<StorageUsage>
  /** The `retention` member of `/v1/status`. */
  retention(): RetentionReport
  /** What core measures: of the process, its requests and its storage. */
  metrics(): readonly Metric[]
  /** The `events` member of `/v1/status`. */
  events(): BusStatistics
}

/** The host's view of the daemon; core provides it, any plugin may need it. */
export const Host: Token<HostView> = defineToken<HostView>('host@1')

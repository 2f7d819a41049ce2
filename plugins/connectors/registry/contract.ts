/**
 * Connectors: the ways from outside into sessions and back, as operators set them up. One registry keeps them all; each
 * kind is a plugin that contributes a `ConnectorKind` and has routes, replies and workers of its own. Rules:
 * docs/rules/connectors.md.
 */
import {
  definePoint,
  defineToken,
  hasMembers,
  type AnyStruct,
  type Issue,
  type JsonObject,
  type Point,
  type StructOf,
  type Token,
} from '../../../core/plugin.js'
import type { ReplyHandle, ReplyTargetRequest } from '../../execution/deliveries/contract.js'
import type { InlineAsset, InputItem, RunRecord } from '../../execution/runs/contract.js'
import { connectorKinds, type ConnectorKindName, type SessionPolicy } from './settings.js'

/** Their parts, for structs of kinds. */
export * from './settings.js'
export * from './mending.js'

/** What the settings of every kind have. */
export interface ConnectorSettings {
  readonly fixed_session_id?: string | undefined
  readonly session_policy?: SessionPolicy | undefined
  readonly allow_unauthenticated_ingress: boolean
  readonly ingress_events_per_second: number
}

/** A connector that is to be, as its kind judges it. */
export interface ConnectorDraft<S> {
  readonly name: string
  readonly settings: S
  /** True if this secret has a source. */
  has(secret: string): boolean
}

/** Who else a connector hears than an operator may think. */
export interface Exposure {
  readonly severity: 'info' | 'warning'
  /** Words that can follow the name of the connector. */
  readonly message: string
  /** What to do, in words that a line follows. */
  readonly action: string
  /** Flags of `holdfast connectors put` that change it. */
  readonly flags: string
}

/** A kind of connector. */
export interface ConnectorKind<S extends ConnectorSettings = ConnectorSettings> {
  readonly kind: ConnectorKindName
  /** Settings but for secrets. What `{}` parses to is what a connector has of which nothing is said. */
  readonly settings: StructOf<S>
  /** Members that are secrets, such as `bot_token`. */
  readonly secrets: readonly string[]
  /**
   * Members that are lists whose entries have a secret: `team_bot_tokens` of entries `{team_id, bot_token}` names its
   * secrets `team_bot_tokens.<team_id>.bot_token`. Each is given as a whole, and is kept sorted by `id`.
   */
  readonly secretLists?: Readonly<Record<string, { readonly id: string; readonly secret: string }>>
  /** The member that lists reply targets. */
  readonly targets: keyof S & string
  /** Members that no change may change. */
  readonly fixed?: readonly (keyof S & string)[]
  /** The settings in the form in which they are kept: lists sorted, names in small letters, rates at least 1. */
  normal?(settings: S): S
  /** What is wrong with it as a whole: which member, and what it must be. No I/O. */
  fault(draft: ConnectorDraft<S>): Issue | undefined
  /** Who may send to it that nobody may mean; undefined if all is closed. No I/O. */
  exposure?(draft: ConnectorDraft<S>): Exposure | undefined
  /** Members of its view that differ from its settings; undefined ones are left out. */
  view?(settings: S): JsonObject
  /**
   * Values that are never read back and are no secrets by name, such as `{ child_process: 'env' }`: which member holds
   * them, and what they are called in it. On disk they are sealed.
   */
  readonly sealed?: Readonly<Record<string, string>>
  /** Secrets that its settings name beside its own, such as those that a child asks for: they are in use by it. */
  uses?(settings: S): readonly string[]
  /** What is wrong with these secrets, when a request names them. No I/O. */
  faultOfUses?(settings: S): Issue | undefined
  /** What is wrong with a reply target that a connector of this kind is to keep, in words that can follow a path. */
  refuseTarget?(draft: ConnectorDraft<S>, target: ReplyHandle): string | undefined
}
/** A kind with settings of any shape. */
export type AnyConnectorKind = Omit<ConnectorKind, 'settings' | 'targets' | 'fixed'> & {
  readonly settings: AnyStruct
  readonly targets: string
  readonly fixed?: readonly string[]
}
const lacking = hasMembers<AnyConnectorKind>('a kind of connector', {
  kind: 'id',
  targets: 'text',
  fault: 'function',
})
/** Routes, the file, views and metrics know these alone: another one would be kept and half of it work. */
const faultOfKind = (kind: AnyConnectorKind): string | undefined =>
  lacking(kind) ??
  (connectorKinds.includes(kind.kind) ? undefined : `a kind of connector must be one of ${connectorKinds.join(', ')}`)
/** Every kind, by its name: the four of the contract, each once. Another platform is one of the kind `external`. */
export const ConnectorKinds: Point<AnyConnectorKind> = definePoint<AnyConnectorKind>(
  'connector-kinds@1',
  ({ kind }) => kind,
  faultOfKind,
)

/** A connector as it is now. Ask the registry at each use and keep none. */
export interface Connector<S extends ConnectorSettings = ConnectorSettings> {
  readonly kind: ConnectorKindName
  readonly name: string
  /** Who sets it up: a file of the operator, or requests. */
  readonly source: 'file' | 'daemon'
  readonly settings: S
  /** True if this secret has a source, whether it can be read or not. */
  has(secret: string): boolean
  /** Its value as of now; undefined without a source. Throws `connector_secret_unusable` (503). */
  secret(secret: string): string | undefined
}

/** How a connector is: `deaf` if it hears nothing until somebody does something. */
export const connectorHealths = ['ok', 'degraded', 'deaf'] as const
/** One of `connectorHealths`. */
export type ConnectorHealth = (typeof connectorHealths)[number]

/** What is wrong with a connector, in sentences for operators without a word of outsiders. */
export interface ConnectorTrouble {
  readonly state: Exclude<ConnectorHealth, 'ok'>
  readonly cause: string
  readonly action: string
}

/** What is told of a connector that is another one now. */
export interface ConnectorChange {
  readonly kind: ConnectorKindName
  readonly name: string
  /** It was set up, changed or taken away; or a secret of it has another value, or none. */
  readonly why: 'set_up' | 'secret'
}

/** The connectors of this daemon. */
export interface Connectors {
  /** True if one of this name is set up, in force or not: what reply targets may lead to. */
  has(kind: ConnectorKindName, name: string): boolean
  /** True if any of this kind is set up, in force or not. Costs the same with few and with many. */
  hasKind(kind: ConnectorKindName): boolean
  /** The settings of one that is set up, in force or not: what is right for a reply target of it. */
  settingsOf<S extends ConnectorSettings>(kind: ConnectorKind<S>, name: string): S | undefined
  /** Undefined if there is none of this name in force. */
  find<S extends ConnectorSettings>(kind: ConnectorKind<S>, name: string): Connector<S> | undefined
  /** By name. */
  all<S extends ConnectorSettings>(kind: ConnectorKind<S>): Connector<S>[]
  /** Calls back when one was added, changed or removed, or a secret of it has another value. Returns its undo. */
  onChange(listener: (changed: ConnectorChange) => void): () => void
  /** An event of it was taken in. Says nothing of whether it can do what it is for: `well` does. */
  heard(kind: ConnectorKindName, name: string): void
  /** What a connector did well, such as a poll: its last success, and an end of this trouble. */
  well(kind: ConnectorKindName, name: string): void
  /** What is wrong with it, until `well` or the next one. */
  trouble(kind: ConnectorKindName, name: string, trouble: ConnectorTrouble): void
}
/** The connectors of this daemon. */
export const Connectors: Token<Connectors> = defineToken<Connectors>('connectors@1')

/** A message from outside, which becomes one run however often it comes. */
export interface IngressEvent {
  /**
   * What names it among all events of all connectors, such as `telegram:<name>:<update_id>`; only its digest is kept.
   * Absent where the sender gives it no name: each is a run of its own then.
   */
  readonly key?: string
  /** Digest of what it says: the same key with another one is refused. */
  readonly fingerprint: string
  /** The session that the message itself asks for; behind the fixed one of the connector. */
  readonly session_id?: string
  /** Keys that its session is bound to from then on, the most particular first: the first that is bound leads to it. */
  readonly binding_keys: readonly string[]
  /** The session that it is in when none of them is bound; absent where that is refused. */
  readonly natural_session_id?: string
  /**
   * True where nobody can be told to come back, as a chat: while the queue of its session is full it waits on disk, and
   * is answered as one with files.
   */
  readonly patient?: boolean
  /** What shares a rate within the connector, such as a channel; the connector as a whole when absent. */
  readonly rate_scope?: string
  /** What the run is told: `content` with `attachments`, or `input_items`. */
  readonly content: string
  readonly input_items?: readonly InputItem[]
  readonly attachments?: readonly InlineAsset[]
  /**
   * Files of the platform that the run is told of, in the words of the kind: its `FileSource` fetches them after the
   * event is on disk, and the run begins when they are there.
   */
  readonly files?: readonly JsonObject[]
  readonly source_kind: string
  readonly actor_id: string
  /** Kept with the run: what the sender wrote, already without what it must not write. */
  readonly metadata?: JsonObject
  /**
   * Members that the daemon writes beside them, such as `http_ingress_fingerprint`: they are the origin of the run, and
   * nobody else can write them. `connector_ingress_key` is made of the key where they do not say it.
   */
  readonly facts: JsonObject
  readonly reply_targets: readonly (ReplyTargetRequest | ReplyHandle)[]
}

/** What became of an event. */
export type Received =
  | { readonly type: 'accepted' | 'duplicate'; readonly session_id: string; readonly run: RunRecord }
  /** It is on disk; its run begins when its files are there. */
  | { readonly type: 'pending'; readonly session_id: string }

/** Takes events in. */
export interface Ingress {
  /**
   * Resolves when the event is on disk. Rejects with problems of `ingressErrors` (plugins/connectors/ingress), whose
   * member `reason` says which: `conflict` (409) as `other_payload` and `event_expired` with `run_id` and `session_id`
   * of the first, `session_missing`, `session_policy`, `session_bound`; `bad_request` (400) as `session_unresolved`,
   * `persona_missing` and the codes of submissions; `<kind>_ingress_rate_limited` (429) with `retry_after_ms`.
   */
  receive(connector: Connector, event: IngressEvent): Promise<Received>
}
/** The way in for the events of all kinds. */
export const Ingress: Token<Ingress> = defineToken<Ingress>('connector-ingress@1')

/** What fetching a file came to. */
export type FetchedFile =
  | { readonly type: 'file'; readonly file: { file_name: string; media_type: string; bytes: Uint8Array } }
  /** `cause` is told to the model in place of the file: no address and no credential. */
  | { readonly type: 'refused'; readonly cause: string }
  | { readonly type: 'retry'; readonly cause: string; readonly retry_after_ms?: number }

/** How a kind fetches the files of its events. */
export interface FileSource {
  readonly kind: ConnectorKindName
  /** Must not throw, and end soon after the signal aborts. */
  fetch(connector: Connector, file: JsonObject, signal: AbortSignal): Promise<FetchedFile>
}
/** The fetchers of files, by their kind. */
export const FileSources: Point<FileSource> = definePoint<FileSource>(
  'connector-files@1',
  ({ kind }) => kind,
  hasMembers('a source of files', { kind: 'id', fetch: 'function' }),
)

/** What a delivery of several steps has done, kept until it is settled: a repetition goes on behind it. */
export interface DeliveryProgress {
  /** Undefined if nothing was kept. */
  read(delivery_id: string): JsonObject | undefined
  /** Resolves when it is on disk. What is no longer attempted keeps nothing. */
  write(delivery_id: string, progress: JsonObject): Promise<void>
}
/** The progress of deliveries. */
export const DeliveryProgress: Token<DeliveryProgress> = defineToken<DeliveryProgress>('delivery-progress@1')

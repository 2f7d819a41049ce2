/**
 * Leases: what lets somebody outside the daemon use a secret for a short time. Rules: docs/rules/secrets.md.
 */
import {
  array,
  boolean,
  defineToken,
  doc,
  enums,
  integer,
  literal,
  named,
  object,
  optional,
  string,
  tagged,
  timestamp,
  type Infer,
  type Token,
} from '../../../core/plugin.js'

/** What a subject can be. */
export const subjectKinds = ['daemon', 'session', 'agent', 'connector'] as const
/** Who a lease is given to. */
export interface Subject {
  /** Unique over all kinds, such as `connector:slack:main`. */
  readonly id: string
  readonly kind: (typeof subjectKinds)[number]
}

const text = () => string({ min: 1, max: 500 })

/** What a lease is good for. */
export const Audience = named(
  'LeaseAudience',
  tagged('type', {
    route: object({ type: literal('route'), route_id: text(), slot_id: text() }),
    connector: object({
      type: literal('connector'),
      connector: text(),
      env_keys: doc(array(text(), { max: 100 }), 'Names under which the secrets are asked for.'),
      secret_refs: doc(array(text(), { max: 100 }), 'The secrets that may be asked for.'),
    }),
    mcp_server: object({
      type: literal('mcp_server'),
      server: text(),
      slot_id: text(),
      scopes_hash: doc(string({ max: 500 }), 'Of the scopes that were asked for.'),
    }),
  }),
)
/** The value form of `Audience`. */
export type Audience = Infer<typeof Audience>

/** The facts of a lease; its token is made of them and of a key, and is stored nowhere. */
export const Lease = named(
  'Lease',
  object({
    id: string(),
    grant_id: doc(string(), 'The same for all leases of one subject to one audience.'),
    subject_id: string(),
    subject_epoch: doc(integer({ min: 1 }), 'The epoch of the subject when it was issued.'),
    audience: Audience,
    issued_at_ms: timestamp(),
    expires_at_ms: timestamp(),
  }),
)
/** The value form of `Lease`. */
export type Lease = Infer<typeof Lease>

/** A lease as operators see it. */
export const LeaseView = named(
  'LeaseView',
  object({
    lease: Lease,
    revoked: doc(boolean(), 'An operator ended it, or its subject or a secret of it was revoked.'),
    active: doc(boolean(), 'It can be used now.'),
  }),
)
/** The value form of `LeaseView`. */
export type LeaseView = Infer<typeof LeaseView>

const ids = () => optional(array(string()))

/** A subject as operators see it. */
export const SubjectView = named(
  'SubjectView',
  object({
    subject_id: string(),
    kind: doc(enums(subjectKinds), 'What it is.'),
    current_epoch: doc(integer({ min: 1 }), 'Leases of earlier epochs are revoked.'),
    revoked: doc(boolean(), 'It gets no lease until its owner admits it again.'),
    active_connector_lease_ids: ids(),
    active_route_lease_ids: ids(),
    active_mcp_lease_ids: ids(),
  }),
)
/** The value form of `SubjectView`. */
export type SubjectView = Infer<typeof SubjectView>

/** What is asked for. */
export interface LeaseWish {
  readonly subject: Subject
  readonly audience: Audience
  /** Milliseconds; at most what the kind of audience has when absent, and at least a second. */
  readonly ttl_ms?: number
}

/** A lease that was just issued. The token is told once; whoever has it has the lease. */
export interface IssuedLease {
  readonly lease: Lease
  /** Begins with `hft_`. */
  readonly token: string
}

/** Leases, for plugins that start or serve what needs secrets for a short time. */
export interface Leases {
  /**
   * Resolves when the lease is on disk. Throws `subject_revoked`, `secret_revoked` of a secret that it would lend, or
   * what `SecretSlots` throws of the key.
   */
  issue(wish: LeaseWish): Promise<IssuedLease>
  /** The lease that a token stands for, if it can be used now. Ask at each use, and look at the audience. */
  check(token: string): Lease | undefined
  /** Ends a lease; no effect if it has ended. Throws `lease_not_found`. */
  revoke(lease_id: string): Promise<LeaseView>
  /** Ends all leases of a subject, which gets none until it is admitted. Throws `subject_not_found`. */
  revokeSubject(subject_id: string): Promise<SubjectView>
  /** Lets a revoked subject have leases again, in its new epoch: when its owner sets it up anew. */
  admit(subject_id: string): Promise<void>
}
export const Leases: Token<Leases> = defineToken<Leases>('leases@1')

/** What is kept of leases: those that are active or were revoked, and which subjects were. */
import {
  boolean,
  digest,
  enums,
  integer,
  object,
  string,
  timeKey,
  type Collection,
  type CollectionSpec,
  type Ids,
  type Infer,
  type State,
  type Tx,
} from '../../../core/plugin.js'
import { Lease, subjectKinds, type Audience, type LeaseView, type LeaseWish, type Subject } from './contract.js'
import { leaseErrors } from './errors.js'

const StoredLease = object({ lease: Lease, kind: enums(subjectKinds), revoked: boolean() })
type StoredLease = Infer<typeof StoredLease>

/** Kept of a subject that was revoked once; all others are in their first epoch. */
const StoredSubject = object({
  subject_id: string(),
  kind: enums(subjectKinds),
  epoch: integer({ min: 1 }),
  revoked: boolean(),
})
type StoredSubject = Infer<typeof StoredSubject>

/** Leases at most, and how many that ended long ago go with each new one. */
const [mostLeases, atOnce] = [100_000, 20]
/** How long a lease can still be looked at when it has expired. Milliseconds. */
const afterlifeMs = 300_000
const group = 'all'

const leaseCollection: CollectionSpec<StoredLease> = {
  name: 'auth_leases',
  version: 1,
  id: ({ lease }) => lease.id,
  indexes: {
    expiry: { group: () => group, sort: ({ lease }) => timeKey(lease.expires_at_ms) },
    subject: { group: ({ lease }) => lease.subject_id, sort: ({ lease }) => timeKey(lease.expires_at_ms) },
  },
  removed: 'forgotten',
  bounded: { leases: `at most ${mostLeases}, until ${afterlifeMs} ms after they expire` },
  schema: StoredLease,
}
const subjectCollection: CollectionSpec<StoredSubject> = {
  name: 'auth_subjects',
  version: 1,
  id: ({ subject_id }) => subject_id,
  indexes: {},
  settled: () => true,
  bounded: { subjects: 'those that an operator revoked' },
  schema: StoredSubject,
}

/** The secrets that a lease lets somebody use. */
export const secretsOf = (audience: Audience): readonly string[] =>
  audience.type === 'connector' ? audience.secret_refs : [audience.slot_id]

/** Milliseconds that a lease lives at most, by what it is for; none lives less than a second. */
const longest = { route: 60_000, connector: 300_000, mcp_server: 60_000 } as const
const shortestMs = 1000

export interface LeaseStore {
  find(lease_id: string): StoredLease | undefined
  subject(subject_id: string): StoredSubject | undefined
  /** Of a subject, those that can be used at a moment, Unix ms. */
  activeOf(subject_id: string, now: number): readonly Lease[]
  isActive(stored: StoredLease, now: number): boolean
  view(stored: StoredLease, now: number): LeaseView
  add(tx: Tx, wish: LeaseWish): Lease
  revoke(tx: Tx, lease_id: string): StoredLease
  /** Ends the leases that let somebody use this secret. */
  revokeOf(tx: Tx, secret_ref: string): void
  revokeSubject(tx: Tx, subject_id: string): StoredSubject
  admit(tx: Tx, subject_id: string): void
}

export const createLeaseStore = (state: State, ids: Ids): LeaseStore => {
  const leases: Collection<StoredLease> = state.collection(leaseCollection)
  const subjects: Collection<StoredSubject> = state.collection(subjectCollection)
  const leasesOf = (subject_id: string): StoredLease[] =>
    leases.ids('subject', subject_id).flatMap((id) => leases.find(id) ?? [])
  const subject = (subject_id: string): StoredSubject | undefined => {
    const stored = subjects.find(subject_id)
    if (stored !== undefined) return stored
    const [lease] = leasesOf(subject_id)
    return lease === undefined ? undefined : { subject_id, kind: lease.kind, epoch: 1, revoked: false }
  }
  const known = (subject_id: string): StoredSubject => {
    const found = subject(subject_id)
    if (found === undefined) throw leaseErrors.subject_not_found({ details: { subject_id } })
    return found
  }
  const isRevoked = ({ lease, revoked }: StoredLease): boolean =>
    revoked || lease.subject_epoch !== (subjects.find(lease.subject_id)?.epoch ?? 1)
  const isActive = (stored: StoredLease, now: number): boolean => !isRevoked(stored) && now < stored.lease.expires_at_ms
  /** Those that nobody will look at any more make room. */
  const sweep = (tx: Tx): void => {
    const old = leases.list({ index: 'expiry', group, limit: atOnce })
    for (const { lease } of old)
      if (lease.expires_at_ms + afterlifeMs <= tx.now) tx.remove(leases, lease.id, 'it has expired')
  }
  const epochOf = ({ id }: Subject): number => {
    const { epoch = 1, revoked = false } = subjects.find(id) ?? {}
    if (revoked) throw leaseErrors.subject_revoked({ details: { subject_id: id } })
    return epoch
  }
  return {
    find: (lease_id) => leases.find(lease_id),
    subject,
    isActive,
    activeOf: (subject_id, now) =>
      leasesOf(subject_id)
        .filter((stored) => isActive(stored, now))
        .map(({ lease }) => lease),
    view: (stored, now) => ({ lease: stored.lease, revoked: isRevoked(stored), active: isActive(stored, now) }),
    add(tx, { subject: to, audience, ttl_ms = Infinity }) {
      const subject_epoch = epochOf(to)
      sweep(tx)
      if (leases.count('expiry', group) >= mostLeases) throw leaseErrors.leases_full({ details: { most: mostLeases } })
      const lease: Lease = {
        id: ids.make('lease'),
        grant_id: `grant_${digest({ subject_id: to.id, audience }).slice(0, 26)}`,
        subject_id: to.id,
        subject_epoch,
        audience,
        issued_at_ms: tx.now,
        expires_at_ms: tx.now + Math.max(shortestMs, Math.min(ttl_ms, longest[audience.type])),
      }
      tx.insert(leases, { lease, kind: to.kind, revoked: false })
      return lease
    },
    revoke(tx, lease_id) {
      const stored = leases.find(lease_id)
      if (stored === undefined) throw leaseErrors.lease_not_found({ details: { lease_id } })
      const revoked = { ...stored, revoked: true }
      if (!stored.revoked) tx.put(leases, revoked)
      return revoked
    },
    revokeOf(tx, secret_ref) {
      const all = leases.ids('expiry', group).flatMap((id) => leases.find(id) ?? [])
      const lent = all.filter((one) => isActive(one, tx.now) && secretsOf(one.lease.audience).includes(secret_ref))
      for (const stored of lent) tx.put(leases, { ...stored, revoked: true })
    },
    revokeSubject(tx, subject_id) {
      const before = known(subject_id)
      const after = { ...before, epoch: before.epoch + 1, revoked: true }
      tx.put(subjects, after)
      return after
    },
    admit(tx, subject_id) {
      const before = subjects.find(subject_id)
      if (before?.revoked === true) tx.put(subjects, { ...before, revoked: false })
    },
  }
}

import { Problem, type Clock, type Ids, type State } from '../../../core/plugin.js'
import { secretErrors, type SecretSlots } from '../secrets/contract.js'
import type { Leases, LeaseView, LeaseWish, SubjectView } from './contract.js'
import { leaseErrors } from './errors.js'
import { secretsOf, type LeaseStore } from './store.js'
import { isTokenOf, leaseIdOf, tokenOf } from './tokens.js'

/** The secret that tokens are made with. Another value of it ends all leases. */
export const keyRef = 'daemon.leases'

export interface LeaseParts {
  readonly state: State
  readonly store: LeaseStore
  readonly slots: SecretSlots
  readonly clock: Clock
  readonly ids: Ids
}

export interface LeaseService extends Leases {
  /** Throws `lease_not_found`. */
  get(lease_id: string): LeaseView
  /** Throws `subject_not_found`. */
  subject(subject_id: string): SubjectView
}

export const createLeases = ({ state, store, slots, clock, ids }: LeaseParts): LeaseService => {
  const subject = (subject_id: string): SubjectView => {
    const stored = store.subject(subject_id)
    if (stored === undefined) throw leaseErrors.subject_not_found({ details: { subject_id } })
    const active = store.activeOf(subject_id, clock.now())
    const idsOf = (type: string): string[] => active.flatMap(({ id, audience }) => (audience.type === type ? [id] : []))
    const [connector, route, mcp] = [idsOf('connector'), idsOf('route'), idsOf('mcp_server')]
    const { kind, epoch, revoked } = stored
    return {
      subject_id,
      kind,
      current_epoch: epoch,
      revoked,
      ...(connector.length > 0 && { active_connector_lease_ids: connector }),
      ...(route.length > 0 && { active_route_lease_ids: route }),
      ...(mcp.length > 0 && { active_mcp_lease_ids: mcp }),
    }
  }
  const readKey = (): string | undefined => {
    try {
      return slots.value(keyRef)
    } catch (error) {
      if (error instanceof Problem) return undefined
      throw error
    }
  }
  const isRevoked = (secret_ref: string): boolean => slots.find(secret_ref)?.details.revoked_at_ms !== undefined
  const isKeyless = (): boolean => slots.find(keyRef) === undefined || isRevoked(keyRef)
  /** Throws `secret_revoked`: nothing is lent of what holds nothing. */
  const checkSecrets = ({ audience }: LeaseWish): void => {
    const secret_ref = secretsOf(audience).find(isRevoked)
    if (secret_ref !== undefined) throw secretErrors.secret_revoked({ details: { secret_ref } })
  }
  /** Made with the first lease. */
  const ensureKey = async (): Promise<string> => {
    if (isKeyless())
      await state.commit((tx) => {
        if (isKeyless())
          slots.put(tx, {
            slot_id: keyRef,
            provider: 'generic',
            mode: 'opaque_secret',
            state: { value: ids.random(32) },
          })
      })
    return slots.value(keyRef)
  }
  return {
    subject,
    get(lease_id) {
      const stored = store.find(lease_id)
      if (stored === undefined) throw leaseErrors.lease_not_found({ details: { lease_id } })
      return store.view(stored, clock.now())
    },
    async issue(wish) {
      const key = await ensureKey()
      const lease = await state.commit((tx) => {
        checkSecrets(wish)
        return store.add(tx, wish)
      })
      return { lease, token: tokenOf(lease, key) }
    },
    check(token) {
      const stored = store.find(leaseIdOf(token) ?? '')
      if (stored === undefined || !store.isActive(stored, clock.now())) return undefined
      const key = readKey()
      return key !== undefined && isTokenOf(token, stored.lease, key) ? stored.lease : undefined
    },
    revoke: (lease_id) => state.commit((tx) => store.view(store.revoke(tx, lease_id), tx.now)),
    revokeSubject: async (subject_id) => {
      await state.commit((tx) => store.revokeSubject(tx, subject_id))
      return subject(subject_id)
    },
    admit: (subject_id) => state.commit((tx) => store.admit(tx, subject_id)),
  }
}

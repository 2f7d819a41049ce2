/** Where grants are kept: those that hold, and those that expired a while ago. */
import { timeKey, type Collection, type CollectionSpec, type State, type Tx } from '../../../core/plugin.js'
import { covers, type GrantRule } from '../tools/contract.js'
import { Grant } from './contract.js'
import { grantErrors } from './errors.js'

/** Grants at most. */
const most = 1_000
const group = 'all'
/** No session has this id. */
const everywhere = ''

const grantCollection: CollectionSpec<Grant> = {
  name: 'grants',
  version: 1,
  id: ({ grant_id }) => grant_id,
  indexes: {
    expiry: { group: () => group, sort: ({ expires_at_ms }) => timeKey(expires_at_ms) },
    session: { group: ({ session_id }) => session_id ?? everywhere, sort: ({ grant_id }) => grant_id },
  },
  removed: 'forgotten',
  bounded: { grants: `at most ${most}` },
  schema: Grant,
  references: ({ session_id }) => (session_id === undefined ? [] : [{ collection: 'sessions', id: session_id }]),
}

/** A call as its own exact rule tells it. */
export interface GrantedCall {
  readonly session_id: string
  readonly tool_name: string
  readonly rule: GrantRule
  /** True where paths and commands mean something else than in other sessions. */
  readonly isApart: boolean
}

export interface GrantStore {
  /** Those of all sessions, or those that hold for one, by id. */
  list(now: number, session_id: string | undefined): Grant[]
  covering(now: number, call: GrantedCall): Grant | undefined
  /** Takes the place of one that says the same. Throws `grants_full`. */
  put(tx: Tx, grant: Grant): void
  /** Throws `grant_not_found`, for one that has expired too. */
  revoke(tx: Tx, grant_id: string): Grant
  /** Those of a session go with it. */
  end(tx: Tx, session_id: string): void
}

const says = ({ tool_name, rule, session_id }: Grant): string =>
  JSON.stringify([session_id ?? everywhere, tool_name, rule.kind, rule.value])

export const declareGrants = (state: State): GrantStore => {
  const grants: Collection<Grant> = state.collection(grantCollection)
  const read = (ids: readonly string[]): Grant[] => ids.flatMap((id) => grants.find(id) ?? [])
  const of = (session_id: string): Grant[] => read(grants.ids('session', session_id))
  const holds = (now: number) => (grant: Grant) => now < grant.expires_at_ms
  const list: GrantStore['list'] = (now, session_id) =>
    (session_id === undefined ? read(grants.ids('expiry', group)) : [...of(session_id), ...of(everywhere)])
      .filter(holds(now))
      .toSorted((a, b) => (a.grant_id < b.grant_id ? -1 : 1))
  return {
    list,
    covering: (now, { session_id, tool_name, rule, isApart }) =>
      list(now, session_id).find(
        (grant) =>
          grant.tool_name === tool_name &&
          covers(grant.rule, rule) &&
          (!isApart || grant.session_id !== undefined || rule.kind === 'host'),
      ),
    put(tx, grant) {
      for (const old of read(grants.ids('expiry', group)))
        if (says(old) === says(grant)) tx.remove(grants, old.grant_id, 'it is granted anew')
        else if (!holds(tx.now)(old)) tx.remove(grants, old.grant_id, 'it has expired')
      if (grants.count('expiry', group) >= most) throw grantErrors.grants_full({ details: { most } })
      tx.insert(grants, grant)
    },
    revoke(tx, grant_id) {
      const grant = grants.find(grant_id)
      if (grant === undefined || !holds(tx.now)(grant)) throw grantErrors.grant_not_found({ details: { grant_id } })
      tx.remove(grants, grant_id, 'it is revoked')
      return grant
    },
    end(tx, session_id) {
      for (const { grant_id } of of(session_id)) tx.remove(grants, grant_id, 'its session has ended')
    },
  }
}

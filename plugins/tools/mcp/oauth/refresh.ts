/** New tokens for old ones: one request for an account at a time, whoever asks for it. */
import { Problem, backoff, type Clock, type Outbound, type State } from '../../../../core/plugin.js'
import type { Kit } from '../connection/kit.js'
import { clientOf, issuerOf, withTokens, type Account, type Issuer, type Tokens } from './account.js'
import { loginRequired, refusalWords, type Accounts } from './accounts.js'
import { createAsk, failed, type AskParts, type OauthServer } from './ask.js'
import { discover } from './discovery.js'
import { reasonOf, refusalOf } from './faults.js'
import type { Marks } from './marks.js'
import { revokeTokens } from './revocation.js'

export interface RefreshParts {
  readonly accounts: Accounts
  readonly marks: Marks
  readonly state: State
  readonly clock: Clock
  readonly outbound: Pick<Outbound, 'request'>
  readonly signal: AbortSignal
  readonly loadKit: () => Promise<Kit>
}

export interface Refresher {
  /**
   * Resolves when the account has new tokens, on disk. Rejects with `mcp_oauth_login_required` if they were refused, or
   * with `mcp_oauth_failed`; then it does so without asking again for a while.
   */
  refresh(server: OauthServer): Promise<void>
  /** Milliseconds since the tokens of this version were got here; undefined if they were not. */
  age(server: OauthServer): number | undefined
}

/** Between attempts that fail. Milliseconds. */
const waits = { base: 1_000, max: 60_000 }

interface Failure {
  readonly version: number
  readonly attempt: number
  /** Of the clock that never goes back. */
  readonly until: number
  readonly problem: Problem
}

interface Asking extends AskParts {
  readonly kit: Kit
  readonly account: Account
  readonly issuer: Issuer
}

const askForTokens = async ({ kit, account, issuer, ...parts }: Asking): Promise<Tokens> => {
  const client = clientOf(account)
  const { refresh_token, resource } = account
  if (refresh_token === undefined) throw loginRequired(parts.server, 'its account has no refresh token')
  if (client === undefined) throw loginRequired(parts.server, 'its account does not say for which client it is')
  return kit.refreshAuthorization(issuer.issuer, {
    metadata: issuer,
    clientInformation: client,
    refreshToken: refresh_token,
    ...(resource !== undefined && { resource }),
    fetchFn: createAsk(parts),
  })
}

export const createRefresher = (parts: RefreshParts): Refresher => {
  const { accounts, marks, state, clock, outbound, signal, loadKit } = parts
  const flights = new Map<string, Promise<void>>()
  const failures = new Map<string, Failure>()
  const got = new Map<string, { readonly version: number; readonly at: number }>()

  /** The code stays with the account: nobody asks again until somebody has logged in. */
  const refused = async (server: OauthServer, version: number, code: string): Promise<Problem> => {
    const place = { slot_ref: server.entry.oauth_slot_ref, version }
    await state.commit((tx) => marks.refuse(tx, place, code))
    const mark = marks.find(place)
    return loginRequired(server, mark === undefined ? 'its tokens were refused' : refusalWords(mark))
  }
  const perform = async (server: OauthServer): Promise<void> => {
    const { account, version } = accounts.get(server)
    const { oauth_slot_ref: slot_ref } = server.entry
    const kit = await loadKit()
    const asking = { outbound, server, signal }
    if (account.refresh_token === undefined) throw loginRequired(server, 'its account has no refresh token')
    const issuer = account.authorization_server ?? issuerOf(await discover({ ...asking, kit }))
    await state.commit((tx) => marks.begin(tx, { slot_ref, version }))
    const tokens = await askForTokens({ ...asking, kit, account, issuer }).catch(async (error: unknown) => {
      const code = refusalOf(kit, error)
      throw code === undefined ? failed(server, reasonOf(kit, error), error) : await refused(server, version, code)
    })
    const next = { ...withTokens(server, account, { tokens, now: clock.now() }), authorization_server: issuer }
    const isStored = await state.commit((tx) => accounts.put(tx, server, { account: next, of: version }))
    // Somebody logged out or in meanwhile: nobody will use these.
    if (!isStored) return void (await revokeTokens({ ...asking, account: next }))
    got.set(slot_ref, { version: accounts.versionOf(server), at: clock.elapsed() })
  }
  /** What failed a moment ago is not asked again at once. */
  const paced = async (server: OauthServer): Promise<void> => {
    const { oauth_slot_ref: slot_ref } = server.entry
    const version = accounts.versionOf(server)
    const found = failures.get(slot_ref)
    const before = found?.version === version ? found : undefined
    if (before !== undefined && clock.elapsed() < before.until) throw before.problem
    try {
      await perform(server)
      failures.delete(slot_ref)
    } catch (error) {
      const attempt = (before?.attempt ?? 0) + 1
      if (error instanceof Problem)
        failures.set(slot_ref, { version, attempt, until: clock.elapsed() + backoff(waits, attempt), problem: error })
      throw error
    }
  }
  return {
    refresh(server) {
      const { oauth_slot_ref: slot_ref } = server.entry
      const flight = flights.get(slot_ref) ?? paced(server).finally(() => flights.delete(slot_ref))
      flights.set(slot_ref, flight)
      return flight
    },
    age(server) {
      const found = got.get(server.entry.oauth_slot_ref)
      return found?.version === accounts.versionOf(server) ? clock.elapsed() - found.at : undefined
    },
  }
}

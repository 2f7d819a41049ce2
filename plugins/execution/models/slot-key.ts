/** A connection whose key is a stored secret: it is asked for at each call, so that a new one needs no restart. */
import { commandLine, Problem } from '../../../core/plugin.js'
import type { SecretSlots } from '../../operator/secrets/contract.js'
import type { ModelConnection, ModelProvider } from './contract.js'
import { refusing } from './refusing.js'

export interface SlotKey {
  readonly auth_ref: string
  /** Where the route is configured, in words. */
  readonly place: string
  readonly provider: Pick<ModelProvider, 'id' | 'secrets_of'>
  readonly slots: () => SecretSlots | undefined
  /** A connection with this key. */
  readonly connected: (key: () => string) => ModelConnection
}

const nowhere = refusing({
  code: 'credential_unavailable',
  message: 'The plugin secrets, which stores the key of the route, is not there.',
  action: `See why: ${commandLine('status')}`,
})

/** The key of another provider would be told to a stranger. */
const mismatched = ({ auth_ref, provider, place }: SlotKey, owner: string): ModelConnection =>
  refusing({
    code: 'credential_provider_mismatch',
    message: `The secret ${auth_ref} is one of ${owner}, and the route's provider is ${provider.id}.`,
    action:
      `Name another secret in ${place}, or store it as what it is: ` +
      `${commandLine('secrets set', auth_ref)} --provider generic --stdin.`,
  })

/** What can be done about a key that there is none of; what can be about another fault stands in the problem. */
const actionOf = ({ code, action }: Problem, auth_ref: string): string | undefined =>
  code === 'secret_not_found' || code === 'secret_revoked'
    ? `Store it: ${commandLine('secrets set --stdin', auth_ref)}`
    : action

/** A connection is made anew when the key is another one; calls under way end with the old key. */
export const keyedBySlot = (wanted: SlotKey): ModelConnection => {
  const { auth_ref, provider, slots, connected } = wanted
  const fits = new Set<string>(['generic', ...(provider.secrets_of ?? [])])
  let made: { readonly key: string; readonly connection: ModelConnection } | undefined
  const withKey = (key: string): ModelConnection => {
    if (made?.key !== key) made = { key, connection: connected(() => key) }
    return made.connection
  }
  const now = (): ModelConnection => {
    const service = slots()
    if (service === undefined) return nowhere
    const owner = service.find(auth_ref)?.provider
    if (owner !== undefined && !fits.has(owner)) return mismatched(wanted, owner)
    try {
      return withKey(service.value(auth_ref))
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      const { code, message } = error
      const action = actionOf(error, auth_ref)
      return refusing({ code, message, ...(action !== undefined && { action }) })
    }
  }
  return { readiness: () => now().readiness(), stream: (request, signal) => now().stream(request, signal) }
}

/** Where the values of secrets are, and what they are now. */
import { childEnvironment, commandLine, type Secrets } from '../../../core/plugin.js'
import type { SecretSlots } from '../../operator/secrets/contract.js'
import type { ConnectorTrouble } from './contract.js'
import type { StoredSource } from './record.js'
import type { ConnectorSecretView } from './settings.js'

/** In a file the value may stand in the entry itself. */
export type SecretSource = StoredSource | { readonly type: 'file'; readonly value: string }

export type Sources = ReadonlyMap<string, SecretSource>

export interface SourceParts {
  readonly slots: Pick<SecretSlots, 'find' | 'value'>
  readonly secrets: Pick<Secrets, 'redact'>
  /** A value that is redacted from now on; one that is known already changes nothing. */
  readonly guard: (value: string) => void
}

/** A variable of the daemon's environment, and never one of the daemon's own settings. */
export const variable = ({ secrets, guard }: Pick<SourceParts, 'secrets' | 'guard'>, env: string) => {
  const value = childEnvironment({ pass: [env], redact: secrets.redact })[env]
  if (value === undefined || value.trim() === '' || !/^[A-Za-z_]\w*$/u.test(env)) return undefined
  guard(value)
  return value
}

/** The value of now. Throws what secrets throw; undefined for a variable that is not there. */
export const valueOf = (parts: SourceParts, source: SecretSource): string | undefined => {
  if (source.type === 'file') return source.value
  return source.type === 'env' ? variable(parts, source.env) : parts.slots.value(source.secret_ref)
}

/** Why a secret has no value that could be used; undefined if it has one. */
export const faultOfSource = (
  parts: SourceParts,
  secret: string,
  source: SecretSource,
): Pick<ConnectorTrouble, 'cause' | 'action'> | undefined => {
  if (source.type === 'file') return undefined
  if (source.type === 'env') {
    if (variable(parts, source.env) !== undefined) return undefined
    return {
      cause: `The variable ${source.env} of ${secret} is not in the environment of the daemon.`,
      action: 'Start the daemon with it, or give the secret another source.',
    }
  }
  const { secret_ref } = source
  const found = parts.slots.find(secret_ref)
  const give = commandLine('secrets set --stdin', secret_ref)
  if (found === undefined)
    return { cause: `The secret ${secret_ref} of ${secret} is not there.`, action: `Store it: ${give}` }
  const { provider, mode, details } = found
  if (provider !== 'generic' || mode === 'oauth_account')
    return {
      cause: `The secret ${secret_ref} of ${secret} is none of the provider generic, with one value.`,
      action: 'Give the connector another secret.',
    }
  if (details.readable) return undefined
  return {
    cause:
      details.revoked_at_ms === undefined
        ? `The secret ${secret_ref} of ${secret} cannot be decrypted.`
        : `The secret ${secret_ref} of ${secret} was revoked.`,
    action:
      details.revoked_at_ms === undefined
        ? (details.action ?? `Store it again: ${give}`)
        : `Store a new value: ${give}`,
  }
}

/** What is shown of a secret. */
export const viewSource = (source: SecretSource | undefined): ConnectorSecretView => {
  if (source === undefined) return { configured: false }
  const { type } = source
  if (type === 'secret') return { configured: true, source: type, secret_ref: source.secret_ref }
  return type === 'env' ? { configured: true, source: type, env: source.env } : { configured: true, source: type }
}

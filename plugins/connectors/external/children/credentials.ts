/** What a child of the daemon asks for its secrets with (external-39 to external-42). */
import { createHash, timingSafeEqual } from 'node:crypto'
import { Problem } from '../../../../core/plugin.js'
import type { IssuedLease, Lease, Leases } from '../../../operator/leases/contract.js'
import type { ExternalConnector } from '../setup/connector.js'

/** What a child is told, in variables. */
export interface ChildLease {
  readonly token: string
  /** Sorted. */
  readonly env_keys: readonly string[]
}

/** Leases of children: one for each start. */
export interface ChildCredentials {
  /**
   * A lease for the child that is about to start; the one before it is revoked. Undefined if the child has no
   * credential slots. Rejects with `subject_revoked`, and with the problems of secrets.
   */
  begin(connector: ExternalConnector): Promise<ChildLease | undefined>
  /** The child has ended, or is about to be: its lease is good no longer. */
  end(name: string): Promise<void>
  /** The lease that a token stands for, if it is that of the child that runs now. */
  check(name: string, token: string | undefined): Lease | undefined
}

const digestOf = (token: string): Buffer => createHash('sha256').update(token).digest()
/** The digest of no token: a connector without a lease takes as long as one with. */
const nobody = Buffer.alloc(32)

/** Whose leases they are. */
export const subjectOf = (name: string): string => `connector:external:${name}`

/** Its lease may have expired and left. */
const ignoreGone = (error: unknown): void => {
  if (!(error instanceof Problem) || error.code !== 'lease_not_found') throw error
}

export const createChildCredentials = (leases: Leases): ChildCredentials => {
  const current = new Map<string, { readonly lease: Lease; readonly digest: Buffer }>()
  const end = async (name: string): Promise<void> => {
    const found = current.get(name)
    current.delete(name)
    if (found !== undefined) await leases.revoke(found.lease.id).then(() => undefined, ignoreGone)
  }
  const issue = ({ name, settings }: ExternalConnector, env_keys: readonly string[]): Promise<IssuedLease> => {
    const slots = settings.child_process?.credential_slots ?? {}
    return leases.issue({
      subject: { id: subjectOf(name), kind: 'connector' },
      audience: {
        type: 'connector',
        connector: `external:${name}`,
        env_keys: [...env_keys],
        secret_refs: env_keys.map((key) => slots[key] ?? ''),
      },
    })
  }
  return {
    end,
    async begin(connector) {
      const { name, settings } = connector
      await end(name)
      const env_keys = Object.keys(settings.child_process?.credential_slots ?? {}).toSorted()
      if (env_keys.length === 0) return undefined
      const { lease, token } = await issue(connector, env_keys)
      current.set(name, { lease, digest: digestOf(token) })
      return { token, env_keys }
    },
    check(name, token) {
      const found = current.get(name)
      const isIts = timingSafeEqual(digestOf(token ?? ''), found?.digest ?? nobody)
      return isIts && token !== undefined ? leases.check(token) : undefined
    },
  }
}

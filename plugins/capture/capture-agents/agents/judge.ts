/** Judges tokens that come with uploads, by the leases of agents and nothing else. */
import { sameDigest, type SourceKeeper, type TokenVerdict } from '../../observations/contract.js'
import { ownerPlugin, type AgentParts } from '../record/parts.js'

const refused = (reason: Extract<TokenVerdict, { admitted: false }>['reason']): TokenVerdict => ({
  admitted: false,
  reason,
})

export const createJudge = ({ store, clock }: AgentParts): SourceKeeper => {
  const judge: SourceKeeper['judge'] = ({ source_id, owner_id }, token_sha256) => {
    const lease = store.leaseOf(token_sha256)
    const isOfSource =
      lease !== undefined &&
      lease.view.source_id === source_id &&
      lease.machine_id === owner_id &&
      sameDigest(lease.upload_token_sha256, token_sha256)
    if (!isOfSource) return refused('invalid_token')
    const { revoked_at_ms, expires_at_ms, upload_token_version } = lease.view
    if (store.find(owner_id)?.status !== 'active' || revoked_at_ms !== undefined) return refused('revoked_token')
    return clock.now() < expires_at_ms ? { admitted: true, upload_token_version } : refused('expired_token')
  }
  return {
    plugin: ownerPlugin,
    judge(source, token_sha256) {
      try {
        return judge(source, token_sha256)
      } catch {
        // What is damaged opens nothing.
        return refused('invalid_token')
      }
    },
  }
}

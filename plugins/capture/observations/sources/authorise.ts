/** Whose token opens a source (observations-3). */
import { observationErrors } from '../record/errors.js'
import type { SourceRecord } from '../record/store.js'
import type { SourceKeeper, TokenVerdict } from './keeper.js'
import { sameDigest } from './token.js'

const refused = (reason: Extract<TokenVerdict, { admitted: false }>['reason']): TokenVerdict => ({
  admitted: false,
  reason,
})

const judgeOwn = (
  { view, upload_token_sha256, previous_upload_tokens }: SourceRecord,
  sha256: string,
  now: number,
): TokenVerdict => {
  const isCurrent = sameDigest(upload_token_sha256, sha256)
  // All of them are looked at, whichever fits.
  const older = previous_upload_tokens.filter((token) => sameDigest(token.sha256, sha256))
  if (isCurrent && view.upload_token_revoked_at_ms !== undefined) return refused('revoked_token')
  if (isCurrent) return { admitted: true, upload_token_version: view.upload_token_version }
  const [last] = older
  if (last === undefined) return refused('invalid_token')
  if (now > last.expires_at_ms) return refused('expired_token')
  return { admitted: true, upload_token_version: last.version }
}

/** The digest of no token: a source that is not there takes as long as one that is. */
const nobody = '0'.repeat(64)

/** Judges the digest of a token for a source, which may not be there. */
export const judgeToken = (
  source: SourceRecord | undefined,
  sha256: string | undefined,
  { keepers, now }: { readonly keepers: readonly SourceKeeper[]; readonly now: number },
): TokenVerdict => {
  if (source === undefined || sha256 === undefined) {
    sameDigest(nobody, sha256 ?? nobody)
    return refused('missing_or_invalid_token')
  }
  const { owner, view } = source
  const verdict =
    owner === undefined
      ? judgeOwn(source, sha256, now)
      : (keepers
          .find(({ plugin }) => plugin === owner.plugin)
          ?.judge({ source_id: view.source_id, owner_id: owner.id }, sha256) ?? refused('invalid_token'))
  return verdict.admitted && view.status !== 'active' ? refused('source_not_active') : verdict
}

/** The one answer to all who are not let in. */
export const unopened = () => observationErrors.ingress_token_invalid({ headers: { 'www-authenticate': 'Bearer' } })

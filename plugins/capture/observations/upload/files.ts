/** The files of an upload, stored as assets. */
import { Problem } from '../../../../core/plugin.js'
import { assetErrors, fromBase64, mostAssetBytes, type Asset, type Assets } from '../../../media/assets/contract.js'
import { observationErrors } from '../record/errors.js'
import type { SourceKind } from '../record/structs.js'
import { detectedType, typesOf } from './media.js'
import type { UploadRequest } from './request.js'

export interface StoredFiles {
  readonly raw: Asset
  readonly text: Asset | undefined
}

/** Tells of an asset what this ingress has problems for. */
const told = (error: unknown, path: string): unknown => {
  if (!(error instanceof Problem)) return error
  if (error.code === assetErrors.asset_type_unsupported.code)
    return observationErrors.upload_type_unsupported({ cause: error })
  if (error.code !== assetErrors.asset_invalid.code) return error
  const { details, errors = [{ path: `body.${path}`, rule: 'cannot be taken' }] } = error.occurrence
  return observationErrors.upload_invalid({ details: { reason: details?.['reason'] ?? path }, errors, cause: error })
}

/** Throws `upload_base64_invalid`, `upload_too_large`, `upload_type_unsupported`. */
export const readContent = async (
  kind: SourceKind,
  { content_base64 }: UploadRequest['upload'],
): Promise<{ readonly bytes: Uint8Array; readonly media_type: string }> => {
  const bytes = await fromBase64(content_base64)
  if (bytes === undefined)
    throw observationErrors.upload_base64_invalid({
      errors: [{ path: 'body.upload.content_base64', rule: 'must be base64 with padding, in one line' }],
    })
  if (bytes.length > mostAssetBytes) throw observationErrors.upload_too_large()
  const media_type = detectedType(bytes)
  if (media_type === undefined || !typesOf[kind].includes(media_type))
    throw observationErrors.upload_type_unsupported({
      errors: [{ path: 'body.upload.content_base64', rule: `must be ${typesOf[kind].join(' or ')}` }],
    })
  return { bytes, media_type }
}

/** Stores them; again where one was deleted before it was named. Throws as `told` says. */
export const storeFiles = async (
  assets: Assets,
  file: { readonly file_name: string; readonly bytes: Uint8Array; readonly media_type: string },
  canonical_text: string | undefined,
): Promise<StoredFiles> => {
  const add = (upload: Parameters<Assets['add']>[0], path: string): Promise<Asset> =>
    assets.add(upload).catch((error: unknown) => {
      throw told(error, path)
    })
  const words = canonical_text?.trim() ?? ''
  const raw = await add(file, 'upload')
  const text =
    words === ''
      ? undefined
      : await add(
          { file_name: 'canonical-text.txt', media_type: 'text/plain', bytes: Buffer.from(words) },
          'canonical_text',
        )
  return { raw, text }
}

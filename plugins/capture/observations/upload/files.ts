/** The files of an upload, stored as assets. */
import { Problem } from '../../../../core/plugin.js'
import {
  assetErrors,
  fromBase64,
  mostAssetBytes,
  type Asset,
  type Assets,
  type FilePlace,
} from '../../../media/assets/contract.js'
import { observationErrors } from '../record/errors.js'
import type { SourceKind } from '../record/structs.js'
import { detectedType, typesOf } from './media.js'
import type { UploadRequest } from './request.js'

export interface StoredFiles {
  readonly raw: Asset
  readonly text: Asset | undefined
}

const tooLarge = `must be at most ${mostAssetBytes} bytes`
const contentPath = 'body.upload.content_base64'
/** The type of a file is told by how it begins. */
const rawPlace: FilePlace = { file_name: 'body.upload.file_name', media_type: contentPath, content: contentPath }
const textPath = 'body.canonical_text'
const textPlace: FilePlace = { file_name: textPath, media_type: textPath, content: textPath }

/** Tells of an asset what this ingress has problems for. */
const told = (error: unknown): unknown => {
  if (!(error instanceof Problem)) return error
  const { details, errors = [] } = error.occurrence
  if (error.code === assetErrors.asset_type_unsupported.code)
    return observationErrors.upload_type_unsupported({ errors, cause: error })
  if (error.code !== assetErrors.asset_invalid.code) return error
  const reason = details?.['reason'] ?? 'it cannot be taken'
  return observationErrors.upload_invalid({ details: { reason }, errors, cause: error })
}

/** Throws `upload_base64_invalid`, `upload_too_large`, `upload_type_unsupported`. */
export const readContent = async (
  kind: SourceKind,
  { content_base64 }: UploadRequest['upload'],
): Promise<{ readonly bytes: Uint8Array; readonly media_type: string }> => {
  const bytes = await fromBase64(content_base64)
  if (bytes === undefined)
    throw observationErrors.upload_base64_invalid({
      errors: [{ path: contentPath, rule: 'must be base64 with padding, in one line' }],
    })
  if (bytes.length > mostAssetBytes)
    throw observationErrors.upload_too_large({ errors: [{ path: contentPath, rule: tooLarge }] })
  const media_type = detectedType(bytes)
  if (media_type === undefined || !typesOf[kind].includes(media_type))
    throw observationErrors.upload_type_unsupported({
      errors: [{ path: contentPath, rule: `must be ${typesOf[kind].join(' or ')}` }],
    })
  return { bytes, media_type }
}

/** Stores them; again where one was deleted before it was named. Throws as `told` says. */
export const storeFiles = async (
  assets: Assets,
  file: { readonly file_name: string; readonly bytes: Uint8Array; readonly media_type: string },
  canonical_text: string | undefined,
): Promise<StoredFiles> => {
  const add: Assets['add'] = (upload, place) =>
    assets.add({ ...upload, passing: true }, place).catch((error: unknown) => {
      throw told(error)
    })
  const words = canonical_text?.trim() ?? ''
  const raw = await add(file, rawPlace)
  const text =
    words === ''
      ? undefined
      : await add({ file_name: 'canonical-text.txt', media_type: 'text/plain', bytes: Buffer.from(words) }, textPlace)
  return { raw, text }
}

/** Where a file stands in a request: problems of it tell its fields by their full paths. */
import { Problem } from '../../../core/plugin.js'
import { fromBase64 } from './base64.js'
import { assetErrors } from './errors.js'
import type { UploadBody } from './given-file.js'
import { canonicalType } from './normalising/media-types.js'

/** Paths of what a request says of a file. */
export interface FilePlace {
  readonly file_name: string
  readonly media_type: string
  /** Of the bytes. */
  readonly content: string
}

const withErrors = ({ code, spec, occurrence }: Problem, errors: Problem['occurrence']['errors'] & {}): Problem =>
  new Problem(code, spec, { ...occurrence, errors })

/** A problem as that of one place in a request; anything else as it is. */
export const placedAt = (error: unknown, path: string): unknown =>
  error instanceof Problem ? withErrors(error, [{ path, rule: 'cannot be taken' }]) : error

/** A stored file that a request names at a path. Throws `asset_not_found` with it. */
export const assetAt = <A>(assets: { get(asset_id: string): A }, asset_id: string, path: string): A => {
  try {
    return assets.get(asset_id)
  } catch (error) {
    throw placedAt(error, path)
  }
}

/** A problem of a file, whose fields it names, with their places; what names none is about the bytes. */
export const placedIn = (error: unknown, place: FilePlace): unknown => {
  if (!(error instanceof Problem)) return error
  const { errors } = error.occurrence
  if (errors === undefined) return placedAt(error, place.content)
  const placed = ({ path, rule }: { path: string; rule: string }) =>
    path === 'file_name' || path === 'media_type' ? { path: place[path], rule } : { path, rule }
  return withErrors(error, errors.map(placed))
}

type File = Omit<UploadBody, 'content_base64'> & { readonly bytes: Uint8Array }

/** Stores a file that stands in a body at a path, such as `body.attachments.1`. */
export const addInline = async <A>(
  add: (file: File, place: FilePlace) => Promise<A>,
  { file_name, media_type, content_base64 }: UploadBody,
  path: string,
): Promise<A> => {
  const content = `${path}.content_base64`
  const bytes = await fromBase64(content_base64)
  if (bytes === undefined)
    throw assetErrors.asset_invalid({
      details: { media_type: canonicalType(media_type), reason: 'content_base64 is no base64' },
      errors: [{ path: content, rule: 'must be base64 with padding, in one line' }],
    })
  const place = { file_name: `${path}.file_name`, media_type: `${path}.media_type`, content }
  return add({ file_name, media_type, bytes }, place)
}

/** Who looks at files before they are stored, and what they may make of them. */
import { isUtf8 } from 'node:buffer'
import {
  awaited,
  definePoint,
  fault,
  hasMembers,
  refusing,
  unsafeCast,
  withAnswers,
  type Point,
} from '../../../../core/plugin.js'
import { isMediaType, takesType, wrongMediaTypes } from './media-types.js'

/** Most bytes of one file: 12 MiB. */
export const mostAssetBytes = 12 * 1024 * 1024

/** A file that comes in. */
export interface IncomingFile {
  /** By its usual name, without parameters. */
  readonly media_type: string
  readonly bytes: Uint8Array
}
/** A file as it is stored, with what was made of it. Each of the three has 12 MiB at most. */
export interface NormalisedFile {
  readonly bytes: Uint8Array
  /** The text in it, UTF-8. */
  readonly text?: Uint8Array | undefined
  readonly preview?: { readonly media_type: string; readonly bytes: Uint8Array } | undefined
}
/** Looks at files of some media types before they are stored. */
export interface AssetNormaliser {
  readonly id: string
  /** Without parameters. Of several that have one, the first is asked. */
  readonly media_types: readonly string[]
  /**
   * Rejects with `asset_invalid`, saying what is wrong, for a file that is not what it says it is; a row of that code
   * in a table of its plugin will do. Must end within ten seconds.
   */
  normalise(file: IncomingFile): Promise<NormalisedFile>
}

const copied = (part: string, bytes: unknown): Uint8Array => {
  if (!(bytes instanceof Uint8Array) || bytes.length === 0)
    throw fault(`the ${part} that it returned is no Uint8Array, or an empty one`)
  if (bytes.length > mostAssetBytes)
    throw fault(`the ${part} that it returned has ${bytes.length} bytes, and ${mostAssetBytes} are the most`)
  return Buffer.from(bytes)
}

const textOf = (given: unknown): Uint8Array => {
  const text = given instanceof Uint8Array && given.length === 0 ? given : copied('text', given)
  if (!isUtf8(text)) throw fault('the text that it returned is not UTF-8')
  return text
}

const previewOf = (given: NormalisedFile['preview']): NormalisedFile['preview'] => {
  if (typeof given !== 'object' || given === null) throw fault('the preview that it returned is no object')
  const { media_type, bytes } = given
  if (!isMediaType(media_type) || !media_type.startsWith('image/'))
    throw fault('the preview that it returned has no media type of pictures')
  return { media_type, bytes: copied('preview', bytes) }
}

/** A normaliser in a plugin that no compiler has checked may return anything. */
const takenFile = (answer: unknown): NormalisedFile => {
  if (typeof answer !== 'object' || answer === null) throw fault('what it returned is no file')
  const { bytes, text, preview } = unsafeCast<NormalisedFile>(answer)
  return {
    bytes: copied('file', bytes),
    ...(text !== undefined && { text: textOf(text) }),
    ...(preview !== undefined && { preview: previewOf(preview) }),
  }
}

const isNormaliser = hasMembers<AssetNormaliser>('a normaliser of assets', {
  id: 'id',
  media_types: 'object',
  normalise: 'function',
})

/** Which media types are taken, by the id of what looks at them. */
export const AssetNormalisers: Point<AssetNormaliser> = withAnswers(
  definePoint<AssetNormaliser>(
    'asset-normalisers@1',
    ({ id }) => id,
    (one) => isNormaliser(one) ?? wrongMediaTypes('a normaliser of assets', one.media_types),
  ),
  { normalise: awaited(refusing(takenFile)) },
)

/** Who is asked about a media type; undefined if nobody is. */
export const normaliserOf = (
  normalisers: readonly AssetNormaliser[],
  media_type: string,
): AssetNormaliser | undefined => normalisers.find(({ media_types }) => takesType(media_types, media_type))

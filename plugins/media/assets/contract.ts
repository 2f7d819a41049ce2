/** Files under stable ids, for inputs, outputs and whatever else names them. Rules: docs/rules/assets.md. */
import {
  array,
  definePoint,
  defineToken,
  doc,
  hasMembers,
  integer,
  named,
  object,
  optional,
  string,
  timestamp,
  withAnswers,
  type Infer,
  type OpenBlob,
  type Point,
  type Token,
  type Tx,
} from '../../../core/plugin.js'

import type { AttachmentRef } from './attachment.js'
import type { MadeOf } from './naming/made-of.js'
import { namingAnswers, type AssetHolder } from './naming/naming.js'
import type { IncomingFile } from './normalising/normaliser.js'
import type { FilePlace } from './placed.js'

/** An asset as those show it who name it. */
export { AttachmentRef } from './attachment.js'
/** A file in one line of text, whose name can be no more than a name. */
export { fileLine } from './attachment.js'
/** What is said with files in it, and its plain text. */
export { attachmentParts, filesIn, OutputPart, plainText } from './attachment.js'
/** Problems of assets, for plugins that take them. */
export { assetErrors } from './errors.js'
/** Problems of files that come in, for routes that take them. */
export { uploadProblems } from './upload-problems.js'
/** Where a file stands in a request, and problems of it told with their place. */
export { addInline, assetAt, placedAt } from './placed.js'
/** Paths of what a request says of a file. */
export type { FilePlace } from './placed.js'
/** Something that names an asset. */
export { AssetReference } from './naming/naming.js'
/** What names assets, as its holder tells it: a reference, which are asked for, and what answers. */
export type { AssetHolder, AssetNaming, KeptReference, ReferenceQuery } from './naming/naming.js'
/** What an asset was made of. */
export type { MadeOf } from './naming/made-of.js'
/** Records of a collection that name assets. */
export { namingIn } from './naming/naming-in.js'
/** A file that a person names on a command line. */
export { givenFile } from './given-file.js'
/** The body of a request that stores it. */
export type { UploadBody } from './given-file.js'
/** A file that is named, as people see it, and how they get it. */
export { download, Downloaded, fileText, ShownFile, showDownloaded, toFlag } from './download.js'
/** Which media types are taken, by the id of what looks at them, who is asked about one, and the most of a file. */
export { AssetNormalisers, mostAssetBytes, normaliserOf } from './normalising/normaliser.js'
/** A file that comes in, who looks at it, and the file as it is stored. */
export type { AssetNormaliser, IncomingFile, NormalisedFile } from './normalising/normaliser.js'
/** The media types of a contribution: whether one of them is meant, and what is wrong with them. */
export { takesType, wrongMediaTypes } from './normalising/media-types.js'
/** Reads content that came as base64; undefined where it is none. */
export { fromBase64 } from './base64.js'

const summaryFields = {
  asset_id: doc(string(), 'Id of the asset.'),
  media_type: doc(string(), 'By its usual name, without parameters.'),
  file_name: string(),
  sha256: doc(string(), 'Of the stored bytes, hex.'),
  byte_length: doc(integer({ min: 0 }), 'Stored bytes.'),
  created_at_ms: timestamp(),
}
/** An asset in a list. */
export const AssetSummary = named('AssetSummary', object(summaryFields))
/** The value form of `AssetSummary`. */
export type AssetSummary = Infer<typeof AssetSummary>

/** An asset: a file as it is stored, and what was made of it (assets-1). */
export const Asset = named(
  'Asset',
  object({
    ...summaryFields,
    uri: doc(string(), 'Names the stored bytes; opaque.'),
    text_uri: optional(doc(string(), 'Names the text in it; absent if there is none.')),
    text_sha256: optional(string()),
    text_byte_length: optional(integer({ min: 0 })),
    preview_image_uri: optional(doc(string(), 'Names a picture of it; absent if there is none.')),
    preview_image_media_type: optional(string()),
    preview_image_sha256: optional(string()),
    preview_image_byte_length: optional(integer({ min: 0 })),
    derivation_ids: doc(array(string()), 'What was derived from it later.'),
  }),
)
/** The value form of `Asset`. */
export type Asset = Infer<typeof Asset>

/** What names this asset from now on. */
export const attachmentOf = ({
  asset_id: id,
  created_at_ms: _created_at_ms,
  derivation_ids: _derivation_ids,
  ...rest
}: Asset): AttachmentRef => ({ id, ...rest })

/** Who names assets, by domain. Whoever takes one looks for it, with `find`, in the commit that names it. */
export const AssetReferences: Point<AssetHolder> = withAnswers(
  definePoint<AssetHolder>(
    'asset-references@1',
    ({ domain }) => domain,
    hasMembers('a holder of assets', { domain: 'id', namings: 'object' }),
  ),
  { namings: namingAnswers },
)

/** What of an asset can be read. */
export type AssetPart = 'raw' | 'text' | 'preview'
/** A file that is to become an asset. */
export interface AssetUpload extends IncomingFile {
  readonly file_name: string
  /** It may be released; not if it is stored by somebody else too, before or later. */
  readonly passing?: true
  /** Other assets; told of a new one alone. */
  readonly made_of?: MadeOf | undefined
}

/** Files under stable ids. */
export interface Assets {
  /** Within the commit that names it: an asset that is found then is not deleted while it is named. */
  find(asset_id: string): Asset | undefined
  /** Throws `asset_not_found`. */
  get(asset_id: string): Asset
  /** For whoever pays before there is a file. Throws `asset_store_full` where no further one would be taken now. */
  checkRoom(): void
  /**
   * The asset that has this content already, or a new one. Rejects with `asset_invalid`, `asset_type_unsupported`,
   * `asset_store_full`, `sandbox_busy`, `sandbox_not_begun`, which tell the place of the file where it is given.
   */
  add(upload: AssetUpload, place?: FilePlace): Promise<Asset>
  /** Rejects with `asset_integrity_mismatch`, `asset_not_found`, `asset_part_not_found`. Whoever opens it closes it. */
  open(asset_id: string, part: AssetPart): Promise<OpenBlob>
  /** The whole of it, in memory: at most 12 MiB. Rejects as `open` does. */
  read(asset_id: string, part: AssetPart): Promise<Buffer>
  /** True if it is there, and bytes of its length too. */
  isWhole(asset_id: string): boolean
  /** Notes in a commit what was derived of others and is this asset, or no longer. Without effect if it is gone. */
  noteDerivation(tx: Tx, asset_id: string, change: { readonly add: string } | { readonly remove: string }): void
  /** From this commit on the text in it is the whole of another asset, of `text/plain`. Throws `asset_not_found`. */
  setText(tx: Tx, asset_id: string, words_asset_id: string): void
  /**
   * Deletes one that is passing and that no hard reference keeps; true if that was done here. Whoever held one asks
   * behind the commit that let it go.
   */
  release(asset_id: string): Promise<boolean>
}
/** Files under stable ids. */
export const Assets: Token<Assets> = defineToken<Assets>('assets@1')

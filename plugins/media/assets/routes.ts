import {
  array,
  boolean,
  boundedPage,
  bytes,
  bytesReply,
  defaulted,
  defineRoute,
  doc,
  filteredSource,
  holdsText,
  integer,
  jsonReply,
  listPage,
  object,
  optional,
  pageFields,
  pageOf,
  pageProblems,
  paginationOf,
  searchText,
  string,
  type Route,
} from '../../../core/plugin.js'
import { collectGarbage, GcReport, type GcParts } from './collection.js'
import { Asset, AssetReference, AssetSummary, mostAssetBytes, type AssetHolder, type AssetPart } from './contract.js'
import { assetErrors } from './errors.js'
import { uploadProblems } from './upload-problems.js'
import type { ImportFile } from './import.js'
import { addInline } from './placed.js'
import { openPart } from './reading.js'
import { countFields, countsOf, mostReferences, referenceSource } from './naming/references.js'
import { DeletionPlan } from './removal.js'
import { summaryOf, viewOf, type StoredAsset } from './store.js'

export interface AssetRouteParts extends GcParts {
  readonly importFile: ImportFile
  readonly holders: () => readonly AssetHolder[]
}

const params = object({ asset_id: string({ min: 1, max: 200 }) })
const FileName = doc(string({ min: 1, max: 255 }), 'What the file is called; without slashes.')
const MediaType = doc(
  string({ min: 1, max: 200 }),
  'Parameters are left out, and other names of a type mean that type.',
)

export const assetRoutes = (parts: AssetRouteParts): readonly Route[] => [
  list(parts),
  create(parts),
  upload(parts),
  read(parts),
  references(parts),
  ...(['raw', 'text', 'preview'] as const).map((part) => file(parts, part)),
  remove(parts),
  gc(parts),
]

const holds = (asset: StoredAsset, text: string): boolean =>
  holdsText(text, [asset.asset_id, asset.file_name, asset.media_type, asset.raw.sha256, ...asset.derivation_ids])

const list = (parts: AssetRouteParts): Route =>
  defineRoute({
    id: 'assets.list',
    method: 'GET',
    path: '/v1/assets',
    summary: 'Lists assets by id.',
    access: 'read',
    query: object({
      query: optional(
        doc(string({ max: 200 }), 'Only those whose id, file name, media type, digest or derivation holds this text.'),
      ),
      ...pageFields,
    }),
    reply: jsonReply(pageOf(AssetSummary)),
    problems: [...pageProblems],
    handler: async ({ query: { query, ...page } }) => {
      const { all, skip } = parts.store
      const text = searchText(query)
      return listPage({
        query: page,
        source: text === '' ? all : await filteredSource(all, (asset) => holds(asset, text), skip),
        label: 'asset_id_asc',
        view: summaryOf,
        skip,
      })
    },
  })

const create = ({ importFile }: AssetRouteParts): Route =>
  defineRoute({
    id: 'assets.create',
    method: 'POST',
    path: '/v1/assets',
    summary: 'Stores a file; content that is stored already under that media type is the asset that has it.',
    access: 'admin',
    body: object({
      file_name: FileName,
      media_type: MediaType,
      content_base64: doc(string(), 'At most 12 MiB of bytes.'),
    }),
    bodyLimit: 24 * 1024 * 1024,
    fileBytes: ({ content_base64 }) => content_base64.length,
    reply: jsonReply(Asset, 201),
    problems: uploadProblems,
    durability: 'A',
    example: { body: { file_name: 'notes.md', media_type: 'text/markdown', content_base64: 'IyBOb3Rlcwo=' } },
    handler: async ({ body }) => viewOf(await addInline(importFile, body, 'body')),
  })

const rawPlace = { file_name: 'query.file_name', media_type: 'query.media_type', content: 'body' }

const upload = ({ importFile }: AssetRouteParts): Route =>
  defineRoute({
    id: 'assets.upload',
    method: 'POST',
    path: '/v1/assets/raw',
    summary: 'Stores a file that is the body itself.',
    access: 'admin',
    query: object({ file_name: FileName, media_type: MediaType }),
    body: bytes(),
    bodyForm: 'bytes',
    // Whatever has no bytes is told as every other file that is none.
    bodyOptional: true,
    bodyLimit: mostAssetBytes,
    reply: jsonReply(Asset, 201),
    problems: uploadProblems,
    durability: 'A',
    handler: async ({ query, body }) => viewOf(await importFile({ ...query, bytes: body }, rawPlace)),
  })

const read = ({ store }: AssetRouteParts): Route =>
  defineRoute({
    id: 'assets.get',
    method: 'GET',
    path: '/v1/assets/:asset_id',
    summary: 'Reads an asset.',
    access: 'read',
    params,
    reply: jsonReply(Asset),
    problems: [assetErrors.asset_not_found],
    handler: (input) => viewOf(store.get(input.params.asset_id)),
  })

const references = ({ store, holders }: AssetRouteParts): Route =>
  defineRoute({
    id: 'assets.references',
    method: 'GET',
    path: '/v1/assets/:asset_id/references',
    summary: 'Lists what names an asset, what keeps it first.',
    access: 'read',
    params,
    query: object({
      cursor: pageFields.cursor,
      limit: optional(doc(integer(), `Most references, 1 to ${mostReferences}; larger values mean ${mostReferences}.`)),
    }),
    reply: jsonReply(
      object({
        asset_id: string(),
        ...countFields,
        references: array(AssetReference),
        pagination: paginationOf(mostReferences),
      }),
    ),
    problems: [assetErrors.asset_not_found, ...pageProblems],
    handler: (input) => {
      const { asset_id } = store.get(input.params.asset_id)
      const { items, pagination } = boundedPage(
        {
          query: input.query,
          source: referenceSource(holders(), asset_id),
          label: 'hard_desc,domain_asc,newest_first',
          view: ({ reference }) => reference,
        },
        mostReferences,
      )
      return { asset_id, ...countsOf(holders(), asset_id), references: items, pagination }
    },
  })

const told = {
  raw: { path: '/v1/assets/:asset_id/raw', summary: 'Gives the stored bytes of an asset.' },
  text: { path: '/v1/assets/:asset_id/text', summary: 'Gives the text in an asset.' },
  preview: { path: '/v1/assets/:asset_id/preview', summary: 'Gives the picture of an asset.' },
} as const
const typeOf = ({ media_type, preview }: StoredAsset, part: AssetPart): string => {
  if (part === 'raw') return media_type
  return part === 'text' ? 'text/plain; charset=utf-8' : (preview?.media_type ?? 'application/octet-stream')
}
const nameOf = ({ file_name, preview }: StoredAsset, part: AssetPart): string => {
  if (part === 'raw') return file_name
  if (part === 'text') return `${file_name}.txt`
  return `${file_name}.preview.${preview?.media_type === 'image/jpeg' ? 'jpg' : 'png'}`
}

const file = ({ store }: AssetRouteParts, part: AssetPart): Route =>
  defineRoute({
    id: `assets.${part}`,
    method: 'GET',
    ...told[part],
    access: 'admin',
    params,
    reply: bytesReply(),
    problems: [
      assetErrors.asset_not_found,
      assetErrors.asset_integrity_mismatch,
      ...(part === 'raw' ? [] : [assetErrors.asset_part_not_found]),
    ],
    handler: ({ params: { asset_id } }) => {
      const asset = store.get(asset_id)
      const ref = asset[part]
      if (ref === undefined) throw assetErrors.asset_part_not_found({ details: { asset_id, part } })
      return {
        type: typeOf(asset, part),
        name: nameOf(asset, part),
        length: ref.bytes,
        tag: ref.sha256,
        open: () => openPart(store, asset_id, part),
      }
    },
  })

const remove = ({ removal }: AssetRouteParts): Route =>
  defineRoute({
    id: 'assets.delete',
    method: 'DELETE',
    path: '/v1/assets/:asset_id',
    summary: 'Deletes an asset that nothing needs, and says what that took; its id is never used again.',
    access: 'admin',
    params,
    query: object({ dry_run: optional(doc(boolean(), 'Says what would be deleted, and deletes nothing.')) }),
    reply: jsonReply(DeletionPlan),
    problems: [assetErrors.asset_not_found, assetErrors.asset_delete_blocked],
    durability: 'A',
    handler: async ({ params: { asset_id }, query }) =>
      query.dry_run === true ? removal.plan(asset_id) : removal.remove(asset_id, 'api_delete'),
  })

const gc = (parts: AssetRouteParts): Route =>
  defineRoute({
    id: 'assets.gc',
    method: 'POST',
    path: '/v1/assets/gc',
    summary: 'Deletes all assets that nothing needs, and bytes that no asset has.',
    access: 'admin',
    body: object({ dry_run: defaulted(doc(boolean(), 'Says what would be deleted, and deletes nothing.'), true) }),
    bodyOptional: true,
    reply: jsonReply(GcReport),
    durability: 'A',
    example: { body: { dry_run: true } },
    handler: ({ body }) => collectGarbage(parts, body.dry_run),
  })

/** Files that messages name: while one waits or is told, none of them can be deleted (mailboxes-11). */
import type { Collection, CollectionSpec, JsonObject, State, Tx } from '../../../core/plugin.js'
import { assetAt, assetErrors, namingIn, placedAt, type AssetHolder, type Assets } from '../../media/assets/contract.js'
import { placesOf } from './mail-item.js'

/** That a message which nobody has read yet names a file. */
export interface MessageFile {
  readonly message_id: string
  readonly to_agent_id: string
  readonly asset_id: string
}

/** A message, as far as its files go. */
export interface Naming {
  readonly message_id: string
  readonly to_agent_id: string
  readonly payload: JsonObject
}

type FileCollection = Collection<MessageFile>

const fileId = ({ message_id, asset_id }: Pick<MessageFile, 'message_id' | 'asset_id'>): string =>
  `${message_id} ${asset_id}`

const fileCollection: CollectionSpec<MessageFile> = {
  name: 'mailbox_files',
  version: 1,
  id: fileId,
  indexes: { asset: { group: ({ asset_id }) => asset_id } },
  settled: () => true,
  removed: 'forgotten',
  references: ({ message_id, asset_id }) => [
    { collection: 'mailbox_messages', id: message_id },
    { collection: 'assets', id: asset_id },
  ],
}

export const declareFiles = (state: State): FileCollection => state.collection(fileCollection)

/** Throws `asset_not_found` where a payload names a file that is not there, with its place below a path. */
export const checkFiles = (assets: Assets | undefined, payload: JsonObject, path: string): void => {
  for (const [place, asset_id] of placesOf(payload)) {
    if (assets === undefined) throw placedAt(assetErrors.asset_not_found({ details: { asset_id } }), path + place)
    assetAt(assets, asset_id, path + place)
  }
}

export const nameFiles = (tx: Tx, files: FileCollection, { message_id, to_agent_id, payload }: Naming): void => {
  for (const asset_id of filesOf(payload)) tx.insert(files, { message_id, to_agent_id, asset_id })
}

/** Its reader has them, or there is none. Earlier versions named no files of messages. */
export const letFilesGo = (tx: Tx, files: FileCollection, { message_id, payload }: Naming): void => {
  for (const asset_id of filesOf(payload)) {
    const id = fileId({ message_id, asset_id })
    if (files.has(id)) tx.remove(files, id, 'its message does not wait any more')
  }
}

const filesOf = (payload: JsonObject): Set<string> => new Set(placesOf(payload).map(([, asset_id]) => asset_id))

export const mailHolder = (files: FileCollection): AssetHolder => ({
  domain: 'mailboxes',
  namings: [
    namingIn({
      collection: files,
      index: 'asset',
      reference: ({ message_id, to_agent_id }) => ({
        owner_id: message_id,
        role: 'message_file',
        parent_id: to_agent_id,
      }),
    }),
  ],
})

/** What of a root fell: ids that may be named though they are not there, and streams that begin anywhere. */
import { isMadeBy } from '../../../base/ids.js'
import type { Manifest } from '../../format/manifest.js'

export interface Fallen {
  /** The id may have been there and have fallen. */
  id(collection: string, id: string): boolean
  /** First entries of the stream fell. */
  stream(name: string): boolean
}

export const fallenOf = ({ collections, streams }: Manifest): Fallen => ({
  id: (collection, id) => isMadeBy(id, collections[collection]?.kept?.fell ?? ''),
  stream: (name) => streams[name]?.kept?.fell !== undefined,
})

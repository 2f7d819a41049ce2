/** What headers of files say, so that none is taken for another: a swapped page, or one of another root. */
import type { FileIdentity } from './line-file.js'

/** What a file belongs to: a collection or stream, and a root. */
interface Owner {
  readonly of: string
  readonly root: string
}

export const pageIdentity = ({ of, root }: Owner, no: number) => ({ k: 'page', of, no, root }) satisfies FileIdentity

export const tableIdentity = ({ of, root }: Owner, no: number) => ({ k: 'index', of, no, root }) satisfies FileIdentity

export const tombstoneIdentity = ({ of, root }: Owner) => ({ k: 'tombstones', of, root }) satisfies FileIdentity

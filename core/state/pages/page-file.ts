/** The files of pages: where they are, how they begin, and where their lines stand. */
import { dirname, join } from 'node:path'
import type { Ids } from '../../base/ids.js'
import type { Progress } from '../../base/text/progress.js'
import type { Pause } from '../../base/turns.js'
import type { Disk } from '../disk/disk.js'
import { pageName } from '../format/layout.js'
import type { Fault } from '../format/line.js'
import { pageIdentity } from '../format/identity.js'
import { createLineFile, type LineFile } from '../format/line-file.js'
import type { BlockCache } from '../tables/block-cache.js'
import type { TableTuning } from '../tuning.js'
import type { OpenPages } from './open-pages.js'

/** Where a line stands. */
export interface Location {
  readonly page: number
  readonly offset: number
  readonly length: number
}

/** The order in which lines are read: from the last one back where the last one of an id counts. */
export type ReadOrder = 'oldest first' | 'newest first'

export interface PageOptions {
  readonly disk: Disk
  readonly folder: string
  /** Whether the folder was there when the root was opened; it is looked for where nobody says. */
  readonly wasThere?: () => boolean
  readonly ids: Ids
  readonly root: string
  readonly of: string
  readonly version: number
  readonly pageBytes: number
  /** Shared by all pages of the root. */
  readonly files: OpenPages
  /** Blocks of tables, shared by all of the root. */
  readonly blocks: BlockCache
  readonly tables: TableTuning
  /** Called behind each leaf of a table that a checkpoint writes. */
  readonly pause: Pause
  /** Told how far tables are that are made again. */
  readonly progress?: Progress
  /** Told of a line that is not as it was written, before the reader gets `storage_damaged`. */
  readonly onDamage: (fault: Fault) => void
}

export const pagePath = ({ folder }: PageOptions, page: number): string => join(folder, pageName(page))

export const createPage = (options: PageOptions, no: number): Promise<LineFile> => {
  const { disk, ids, version } = options
  const header = { v: 1, ...pageIdentity(options, no), salt: ids.random(4), version } as const
  return createLineFile(disk, pagePath(options, no), header)
}

/**
 * Makes the folder of the pages, durably. One that is there may have been made by a life that was killed before its
 * name was synced.
 */
export const makePagesFolder = async ({ disk, folder }: PageOptions): Promise<void> => {
  await disk.makeFolder(folder)
  await disk.syncFolder(dirname(folder))
}

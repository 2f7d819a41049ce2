/** Blocks of tables that were read last, shared by all tables of a root and bounded by their bytes on disk. */
import { createCacheRoom, type SizedCache } from '../../base/memory/sized-cache.js'
import type { Row } from './rows.js'

export type BlockCache = SizedCache<readonly Row[]>

export const createBlockCache = (mostBytes: number): BlockCache => createCacheRoom(mostBytes).cache()

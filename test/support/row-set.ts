/** Rows of a table, with nothing more to tell of them. */
import type { RowSet, SectionRows } from '../../core/state/pages/row-set.js'

export const rowSet = (sections: readonly SectionRows[]): RowSet => ({ sections, ids: [], facts: {} })

/** A Jupyter notebook as its cells: sources and the texts of their outputs, without pictures. */
import { isJsonObject, isModest, type Json, type JsonObject } from '../../../../core/plugin.js'
import { joined, outputsOf } from './outputs.js'

const cellText = (cell: JsonObject, number: number): string => {
  const type = typeof cell['cell_type'] === 'string' ? cell['cell_type'] : 'raw'
  const outputs = outputsOf(cell)
  const source = joined(cell['source']).replace(/\n$/u, '')
  return [`--- cell ${number}: ${type} ---`, source, ...(outputs === '' ? [] : ['--- output ---', outputs])].join('\n')
}

/** Undefined for a text that is no notebook. */
export const notebookText = (text: string): string | undefined => {
  if (!isModest(text)) return undefined
  try {
    const value: Json = JSON.parse(text)
    if (!isJsonObject(value) || !Array.isArray(value['cells']) || !value['cells'].every(isJsonObject)) return undefined
    return `${value['cells'].map((cell, at) => cellText(cell, at + 1)).join('\n')}\n`
  } catch {
    return undefined
  }
}

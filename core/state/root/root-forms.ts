/** What `root.json` says of the forms that earlier versions do not know, one change after the other. */
import type { Disk } from '../disk/disk.js'
import { nameForm, type RootForm } from './root-document.js'

export interface RootForms {
  /** Resolves when `root.json` names the form. */
  name(form: RootForm): Promise<void>
}

export const createRootForms = (place: { readonly disk: Disk; readonly root: string }): RootForms => {
  const named = new Set<RootForm>()
  let turn: Promise<void> = Promise.resolve()
  return {
    name: (form) => {
      if (named.has(form)) return Promise.resolve()
      const done = turn.then(() => nameForm(place, form)).then(() => void named.add(form))
      turn = done.catch(() => undefined)
      return done
    },
  }
}

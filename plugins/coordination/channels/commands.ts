import type { Command } from '../../../core/plugin.js'

export const commands: readonly Command[] = []

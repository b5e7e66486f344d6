import { defineCommand } from '../command.js';
import { parseOneOf } from '../option-values.js';

// Each script asks the command line for completions, so that it stays correct when the package is updated,
// and falls back to files.
const scripts = {
  bash: `_merchant_payments() {
  local IFS=$'\\n'
  COMPREPLY=($("\${COMP_WORDS[0]}" completion words -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _merchant_payments merchant-payments
`,
  zsh: `_merchant_payments() {
  local -a found
  found=("\${(@f)$("\${words[1]}" completion words -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "\${found[1]}" ]]; then compadd -- "\${found[@]}"; else _files; fi
}
compdef _merchant_payments merchant-payments
`,
  fish: `function _merchant_payments
  set -l found (merchant-payments completion words -- (commandline -opc)[2..-1] "$(commandline -ct)" 2>/dev/null)
  if test -n "$found"; printf '%s\\n' $found; else; __fish_complete_path (commandline -ct); end
end
complete -c merchant-payments -f -a '(_merchant_payments)'
`,
};

const shells = Object.keys(scripts) as (keyof typeof scripts)[];

export const completion = defineCommand({
  summary: 'Prints a shell script that completes words by Tab.',
  positionals: [shells.join('|')],
  wordChoices: [shells],
  options: {},
  details: [
    'Add to ~/.bashrc: source <(merchant-payments completion bash). Add to ~/.zshrc, after compinit: source <(merchant-payments completion zsh). Add to ~/.config/fish/config.fish: merchant-payments completion fish | source. merchant-payments must be on the PATH.',
    '',
    'For other shells, merchant-payments completion words -- followed by the words so far prints the completions of the last word, one per line.',
  ],
  examples: ['merchant-payments completion bash'],
  async run({ words: [shell = ''] }) {
    const script = scripts[parseOneOf('the shell', shell, shells)];
    return { json: script, lines: () => [script.trimEnd()] };
  },
});

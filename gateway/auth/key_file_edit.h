// Edits of a file of API keys as text, so that its comments and its order stay as they are. An edit whose result would
// not say exactly what was meant is refused: a file may be written in ways that are not understood here.
//
// Thread-safety: free functions. ChangeFile serialises with other processes that use it on the same folder.
//
//   ChangeFile(path, [&](const std::string& text) { return WithKey(text, entry); });

#ifndef HEADSTART_GATEWAY_AUTH_KEY_FILE_EDIT_H_
#define HEADSTART_GATEWAY_AUTH_KEY_FILE_EDIT_H_

#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gateway/auth/key_table.h"

namespace headstart {

// The lines of one key, the first indented by `indent` spaces and a dash.
std::string KeySnippet(const KeyEntry& entry, size_t indent = 2);

// The file's text with the key at the end of the list. Of an empty text, a new file's. ALREADY_EXISTS when the id is
// taken; INVALID_ARGUMENT when the text is not a key file; FAILED_PRECONDITION when the list has to be changed by hand.
absl::StatusOr<std::string> WithKey(const std::string& text, const KeyEntry& entry);

// The text without the lines of the key `id`. NOT_FOUND; else as WithKey.
absl::StatusOr<std::string> WithoutKey(const std::string& text, std::string_view id);

// Replaces the file by `edit` of its text, whole or not at all: readers see the old file or the new one, also after a
// crash. A file that is missing has the empty text, and is made readable for its owner alone. Symbolic links stay.
absl::Status ChangeFile(const std::string& path,
                        const std::function<absl::StatusOr<std::string>(const std::string& text)>& edit);

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_AUTH_KEY_FILE_EDIT_H_

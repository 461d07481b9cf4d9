// NoAccount: an Accountant that keeps none: everybody is let in, nothing is written down, nothing costs.
//
// Thread-safety: as Accountant; `done` is called before Record returns.
//
//   auto accountant = NoAccount();

#ifndef HEADSTART_GATEWAY_ACCOUNTING_NO_ACCOUNT_H_
#define HEADSTART_GATEWAY_ACCOUNTING_NO_ACCOUNT_H_

#include <memory>

#include "gateway/accounting/accountant.h"

namespace headstart {

std::unique_ptr<Accountant> NoAccount();

}  // namespace headstart

#endif  // HEADSTART_GATEWAY_ACCOUNTING_NO_ACCOUNT_H_

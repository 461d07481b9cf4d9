// FaultyFileSystem: the system's files, of which chosen operations fail: the n-th of a kind, or all from the n-th on
// until it is healed. Files may be chosen by the end of their names.
//
//   FaultyFileSystem files;
//   options.env = files.env();
//   files.Fail({.operation = IoOperation::kWrite, .after = 3, .error = NoSpaceLeft()});
//   ...
//   files.Heal();
//   files.SetDeviceBytes(4 << 20);   // what the device says that it has room for, whatever is written
//
// Thread-safety: all of it, from any thread.

#ifndef HEADSTART_TESTS_TESTING_FAULTY_FILE_SYSTEM_H_
#define HEADSTART_TESTS_TESTING_FAULTY_FILE_SYSTEM_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "prefix_store/mutex.h"
#include "rocksdb/env.h"
#include "rocksdb/file_system.h"

namespace headstart::testing {

enum class IoOperation : uint8_t { kWrite, kRead, kSync, kDelete };

inline rocksdb::IOStatus NoSpaceLeft() { return rocksdb::IOStatus::NoSpace("No space left on device (a test's)"); }
inline rocksdb::IOStatus DeviceError() { return rocksdb::IOStatus::IOError("Input/output error (a test's)"); }

struct IoFault {
  IoOperation operation = IoOperation::kWrite;
  int64_t after = 0;        // operations that succeed first
  bool only_once = false;   // that one alone fails
  std::string ending = {};  // of the names of files concerned; empty: all files
  rocksdb::IOStatus error = DeviceError();
};

// What decides whether an operation fails.
class FaultPlan {
 public:
  void Set(IoFault fault) {
    MutexLock lock(mutex_);
    fault_ = std::move(fault);
    active_ = true;
    counted_ = 0;
    failed_ = 0;
  }
  void Clear() {
    MutexLock lock(mutex_);
    active_ = false;
  }
  int64_t failed() {
    MutexLock lock(mutex_);
    return failed_;
  }

  rocksdb::IOStatus Check(IoOperation operation, std::string_view file) {
    MutexLock lock(mutex_);
    if (!active_ || operation != fault_.operation || !file.ends_with(fault_.ending)) return rocksdb::IOStatus::OK();
    const int64_t number = counted_++;
    if (number < fault_.after || (fault_.only_once && number > fault_.after)) return rocksdb::IOStatus::OK();
    ++failed_;
    return fault_.error;
  }

 private:
  Mutex mutex_;
  IoFault fault_ ABSL_GUARDED_BY(mutex_);
  bool active_ ABSL_GUARDED_BY(mutex_) = false;
  int64_t counted_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t failed_ ABSL_GUARDED_BY(mutex_) = 0;
};

class FaultyWritableFile final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  using Options = rocksdb::IOOptions;
  using Context = rocksdb::IODebugContext;

  FaultyWritableFile(std::unique_ptr<rocksdb::FSWritableFile>&& file, std::string name, FaultPlan& plan)
      : FSWritableFileOwnerWrapper(std::move(file)), name_(std::move(name)), plan_(plan) {}

  // A write that fails has written the first half: what devices that run full do.
  rocksdb::IOStatus Append(const rocksdb::Slice& data, const Options& options, Context* context) override {
    const rocksdb::IOStatus fault = plan_.Check(IoOperation::kWrite, name_);
    if (fault.ok()) return target()->Append(data, options, context);
    target()->Append(rocksdb::Slice(data.data(), data.size() / 2), options, context).PermitUncheckedError();
    return fault;
  }
  rocksdb::IOStatus Append(const rocksdb::Slice& data, const Options& options, const rocksdb::DataVerificationInfo&,
                           Context* context) override {
    return Append(data, options, context);
  }
  rocksdb::IOStatus Sync(const Options& options, Context* context) override {
    const rocksdb::IOStatus fault = plan_.Check(IoOperation::kSync, name_);
    return fault.ok() ? target()->Sync(options, context) : fault;
  }
  rocksdb::IOStatus Fsync(const Options& options, Context* context) override {
    const rocksdb::IOStatus fault = plan_.Check(IoOperation::kSync, name_);
    return fault.ok() ? target()->Fsync(options, context) : fault;
  }

 private:
  const std::string name_;
  FaultPlan& plan_;
};

class FaultyRandomAccessFile final : public rocksdb::FSRandomAccessFileOwnerWrapper {
 public:
  FaultyRandomAccessFile(std::unique_ptr<rocksdb::FSRandomAccessFile>&& file, std::string name, FaultPlan& plan)
      : FSRandomAccessFileOwnerWrapper(std::move(file)), name_(std::move(name)), plan_(plan) {}

  rocksdb::IOStatus Read(uint64_t offset, size_t size, const rocksdb::IOOptions& options, rocksdb::Slice* result,
                         char* scratch, rocksdb::IODebugContext* context) const override {
    const rocksdb::IOStatus fault = plan_.Check(IoOperation::kRead, name_);
    return fault.ok() ? target()->Read(offset, size, options, result, scratch, context) : fault;
  }
  rocksdb::IOStatus MultiRead(rocksdb::FSReadRequest* requests, size_t count, const rocksdb::IOOptions& options,
                              rocksdb::IODebugContext* context) override {
    const rocksdb::IOStatus fault = plan_.Check(IoOperation::kRead, name_);
    return fault.ok() ? target()->MultiRead(requests, count, options, context) : fault;
  }

 private:
  const std::string name_;
  FaultPlan& plan_;
};

class FaultySequentialFile final : public rocksdb::FSSequentialFileOwnerWrapper {
 public:
  FaultySequentialFile(std::unique_ptr<rocksdb::FSSequentialFile>&& file, std::string name, FaultPlan& plan)
      : FSSequentialFileOwnerWrapper(std::move(file)), name_(std::move(name)), plan_(plan) {}

  rocksdb::IOStatus Read(size_t size, const rocksdb::IOOptions& options, rocksdb::Slice* result, char* scratch,
                         rocksdb::IODebugContext* context) override {
    const rocksdb::IOStatus fault = plan_.Check(IoOperation::kRead, name_);
    return fault.ok() ? target()->Read(size, options, result, scratch, context) : fault;
  }

 private:
  const std::string name_;
  FaultPlan& plan_;
};

class FaultyFiles final : public rocksdb::FileSystemWrapper {
 public:
  FaultyFiles() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}

  const char* Name() const override { return "FaultyFiles"; }
  FaultPlan& plan() { return plan_; }
  std::atomic<int64_t> device_bytes = 0;  // 0: as the device has it

  rocksdb::IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* result,
                                    rocksdb::IODebugContext* context) override {
    if (const auto fault = plan_.Check(IoOperation::kWrite, name); !fault.ok()) return fault;
    const rocksdb::IOStatus status = target()->NewWritableFile(name, options, result, context);
    if (status.ok()) *result = std::make_unique<FaultyWritableFile>(std::move(*result), name, plan_);
    return status;
  }
  rocksdb::IOStatus NewRandomAccessFile(const std::string& name, const rocksdb::FileOptions& options,
                                        std::unique_ptr<rocksdb::FSRandomAccessFile>* result,
                                        rocksdb::IODebugContext* context) override {
    const rocksdb::IOStatus status = target()->NewRandomAccessFile(name, options, result, context);
    if (status.ok()) *result = std::make_unique<FaultyRandomAccessFile>(std::move(*result), name, plan_);
    return status;
  }
  rocksdb::IOStatus NewSequentialFile(const std::string& name, const rocksdb::FileOptions& options,
                                      std::unique_ptr<rocksdb::FSSequentialFile>* result,
                                      rocksdb::IODebugContext* context) override {
    const rocksdb::IOStatus status = target()->NewSequentialFile(name, options, result, context);
    if (status.ok()) *result = std::make_unique<FaultySequentialFile>(std::move(*result), name, plan_);
    return status;
  }

  rocksdb::IOStatus DeleteFile(const std::string& name, const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* context) override {
    const auto fault = plan_.Check(IoOperation::kDelete, name);
    return fault.ok() ? target()->DeleteFile(name, options, context) : fault;
  }

  rocksdb::IOStatus GetFreeSpace(const std::string& path, const rocksdb::IOOptions& options, uint64_t* free,
                                 rocksdb::IODebugContext* context) override {
    if (device_bytes == 0) return target()->GetFreeSpace(path, options, free, context);
    int64_t used = 0;
    std::error_code gone;  // files come and go meanwhile
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path, gone)) {
      const auto size = entry.file_size(gone);
      if (!gone) used += static_cast<int64_t>(size);
    }
    *free = static_cast<uint64_t>(std::max<int64_t>(device_bytes - used, 0));
    return rocksdb::IOStatus::OK();
  }

 private:
  FaultPlan plan_;
};

class FaultyFileSystem {
 public:
  FaultyFileSystem() : files_(std::make_shared<FaultyFiles>()), env_(rocksdb::NewCompositeEnv(files_)) {}

  rocksdb::Env* env() { return env_.get(); }
  void Fail(IoFault fault) { files_->plan().Set(std::move(fault)); }
  void Heal() { files_->plan().Clear(); }
  void SetDeviceBytes(int64_t bytes) { files_->device_bytes = bytes; }
  int64_t failed() { return files_->plan().failed(); }  // since the last Fail

 private:
  std::shared_ptr<FaultyFiles> files_;
  std::unique_ptr<rocksdb::Env> env_;
};

}  // namespace headstart::testing

#endif  // HEADSTART_TESTS_TESTING_FAULTY_FILE_SYSTEM_H_
